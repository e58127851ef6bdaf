// Each server keeps serving for a while after SIGTERM, as the proxy needs it.
import {
  cheapHash,
  createSite,
  type HoldfastServer,
  type Site,
  startHoldfast,
  until,
} from '@holdfast/testing'
import { expect } from 'chai'
import { createBusyClient } from './support/busy-client.ts'
import { createClient, type Client } from './support/client.ts'
import { contentOf } from './support/content.ts'
import { createJournal, fine, outcomeOf, type Journal } from './support/journal.ts'
import { createLedger, type Ledger } from './support/ledger.ts'
import { freePorts } from './support/start-house.ts'
import { startProxy, type RunningProxy } from './support/start-proxy.ts'

const MiB = 1024 ** 2
const customers = ['ann', 'bob', 'cleo', 'dan']
/** Two seconds are enough for the proxy to turn away, unless the machine has much else to do. */
const shutdownDelay = '15s'

const customersYaml = `customers:\n${customers
  .map((name) => `  - name: ${name}\n    password: ${cheapHash('pass')}\n`)
  .join('')}`

describe('Two servers on one directory behind docs/deploy/compose-haproxy.cfg', function () {
  this.timeout(300_000)
  let site: Site
  let proxy: RunningProxy
  let places: readonly (readonly string[])[]
  let servers: HoldfastServer[]
  let clients: readonly Client[]

  before(async () => {
    site = await createSite()
    await site.write('customers.yaml', customersYaml)
    const [port = 0, ...others] = await freePorts(5)
    const [holdfast, admin] = [others.slice(0, 2), others.slice(2)]
    places = holdfast.map((own, index) => ['--port', `${own}`, '--admin-port', `${admin[index]}`])
    servers = await Promise.all(places.map(start))
    proxy = await startProxy('compose-haproxy', { clients: port, holdfast, admin })
    clients = customers.map((name) =>
      createClient(proxy, { 'x-auth-name': name, 'x-auth-password': 'pass' }),
    )
  })

  after(async () => {
    clients.forEach((client) => client.close())
    await proxy.stop()
    await Promise.all(servers.map((server) => server.kill()))
    await site.remove()
  })

  const start = (place: readonly string[]) =>
    startHoldfast([...place, '--shutdown-delay', shutdownDelay], { cwd: site.path })

  it('are replaced one after the other, and no request fails', async () => {
    const journal = createJournal()
    const failed: string[] = []
    const isOver = new AbortController()
    const record: Journal['record'] = async (kind, work) => {
      const outcome = await journal.record(kind, work)
      if (outcome !== fine) failed.push(`${kind}: ${outcome}`)
      return outcome
    }
    const watched = { ...journal, record }
    const work = clients.map((client, index) =>
      workUntil(isOver.signal, { client, name: customers[index] ?? '', journal: watched }),
    )
    try {
      await untilServing(servers)
      for (const index of places.keys()) await replace(index, watched)
    } finally {
      isOver.abort()
      await Promise.all(work)
    }
    console.log(journal.summary())
    expect(failed).to.deep.equal([])
  })

  /** Ends the server at `index` while uploads are under way at both, and starts another one in its place. */
  async function replace(index: number, journal: Journal): Promise<void> {
    const leaving = servers[index]
    if (leaving === undefined) throw new Error('There are two servers')
    const slow = clients.map((client, at) =>
      journal.record('slow upload', async () => {
        const body = halvesOf(contentOf(`slow ${index} ${at}`, 2 * MiB), () =>
          leaving.logged('finishing the requests under way'),
        )
        return outcomeOf(await client.ask(`/upload/slow-${index}`, { method: 'PUT', body }))
      }),
    )
    leaving.signal('SIGTERM')
    await Promise.all(slow)
    expect(await leaving.ended).to.equal(0)
    expect(lastUploads(leaving), 'at the server that was ending').to.include(200)
    servers[index] = await start(places[index] ?? [])
    await untilServing(servers)
  }
})

/** The statuses of the requests that the server ended after it had closed its port. */
function lastUploads(server: HoldfastServer): readonly unknown[] {
  const lines = server.lines()
  const closed = lines.findIndex(({ msg }) => msg === 'finishing the requests under way')
  return lines.slice(closed).flatMap(({ msg, status }) => (msg === 'request' ? [status] : []))
}

/** Waits until each server has had a request of a client. */
async function untilServing(servers: readonly HoldfastServer[]): Promise<void> {
  await until('each server gets requests', () =>
    servers.every((server) =>
      server.lines().some(({ msg, customer }) => msg === 'request' && customer !== undefined),
    ),
  )
}

interface Work {
  readonly client: Client
  readonly name: string
  readonly journal: Journal
}

/** Uploads, downloads and lists until `signal` aborts, each time one request. */
async function workUntil(signal: AbortSignal, { client, name, journal }: Work): Promise<void> {
  const ledger = createLedger()
  const doStep = createBusyClient({ client, name, ledger, journal })
  for (let step = 0; !signal.aborted; step++) {
    // The last of eight kinds of steps would store another large file each time.
    await (step % 8 === 7 ? journal.record('list', () => list(client, ledger)) : doStep(step))
  }
}

async function list(client: Client, ledger: Ledger): Promise<string> {
  const answer = await client.ask('/list')
  if (answer.status !== 200) return outcomeOf(answer)
  const names = JSON.parse(answer.text) as string[]
  const missing = ledger.acknowledged().filter((file) => !names.includes(file))
  return missing.length === 0 ? fine : `MISSING ${missing.join(', ')}`
}

async function* halvesOf(
  content: Uint8Array,
  pause: () => Promise<unknown>,
): AsyncGenerator<Uint8Array> {
  yield content.subarray(0, content.length / 2)
  await pause()
  yield content.subarray(content.length / 2)
}
