// Two clusters of four nodes lose some of them under load.
import { createHash } from 'node:crypto'
import { EventEmitter, once } from 'node:events'
import {
  describeWithContainers,
  startMinioCluster,
  type MinioCluster,
} from '@holdfast/testing/minio'
import { openMinioBlobStore } from '@holdfast/store-minio'
import { cheapHash, until } from '@holdfast/testing'
import { expect } from 'chai'
import { createBusyClient } from './support/busy-client.ts'
import { createClient, type Answer, type Client } from './support/client.ts'
import { contentOf, digestOf } from './support/content.ts'
import { createJournal, fine, outcomeOf } from './support/journal.ts'
import { createLedger, type Ledger } from './support/ledger.ts'
import { startHouse, type House } from './support/start-house.ts'
import type { ProxyKind } from './support/start-proxy.ts'
import { unfinishedUploads } from './support/unfinished-uploads.ts'

const MiB = 1024 ** 2
const customers = ['ann', 'bob', 'cleo', 'dan']
const stepsEach = 40

interface Customer {
  readonly name: string
  readonly client: Client
  readonly ledger: Ledger
}

describeWithContainers('three holdfast servers on a cluster of four MinIO nodes', (suite) => {
  // A node that comes back may take a minute and a half until the others see all of its drives.
  suite.timeout(300_000)
  let cluster: MinioCluster

  before(async () => {
    cluster = await startMinioCluster()
  })

  after(() => cluster.stop())

  for (const proxy of ['nginx', 'haproxy'] as const satisfies ProxyKind[]) {
    describe(`behind ${proxy}`, () => {
      let bucket: string
      let house: House
      let clients: readonly Customer[]

      before(async () => {
        const [node] = cluster.nodes
        if (!node) throw new Error('There are four nodes')
        bucket = await node.createBucket()
        const endpoints = cluster.nodes.map(({ endpoint }) => endpoint)
        house = await startHouse({ ...node, proxy, endpoints, bucket, customers: customersYaml })
        clients = customers.map((name) => ({
          name,
          client: createClient(house.proxy, { 'x-auth-name': name, 'x-auth-password': 'pass' }),
          ledger: createLedger(),
        }))
      })

      after(async () => {
        clients.forEach(({ client }) => client.close())
        await house.stop()
      })

      // Once is enough: it takes its time.
      if (proxy === 'nginx')
        it('lose and damage nothing when a node is killed under load and comes back', async () => {
          const journal = createJournal()
          const total = clients.length * stepsEach
          const work = clients.map(async (customer) => {
            const doStep = createBusyClient({ ...customer, journal })
            for (let step = 0; step < stepsEach; step++) await doStep(step)
          })
          const [victim] = cluster.nodes
          const breakIt = async () => {
            await until('a third is done', () => journal.count() >= total / 3, 60_000)
            await victim?.kill()
            await until('two thirds are done', () => journal.count() >= (total * 2) / 3, 60_000)
            await victim?.start()
          }
          await Promise.all([...work, breakIt()])
          console.log(journal.summary())
          console.log(causesIn(house))
          expect(journal.summary()).not.to.include('DAMAGED')
          expect(journal.summary(), 'of files that are there').not.to.include('File not found')
          await cluster.untilWhole()
          await expectWhole()
        })

      it('go on with what is under way when a node is killed', async () => {
        const journal = createJournal()
        const content = contentOf('under way', 48 * MiB)
        const [first] = clients
        if (!first) throw new Error('There are clients')
        await put(first, 'download.bin', content)
        const killed = new EventEmitter()
        let pausing = 0
        const untilKilled = async () => {
          pausing++
          await once(killed, 'killed')
        }
        const work = clients.flatMap((customer) => [
          journal.record('upload', async () => {
            return outcomeOf(await put(customer, 'upload.bin', content, untilKilled))
          }),
          journal.record('download', async () => {
            const digest = await digestWithPause(first.client, 'download.bin', untilKilled)
            return digest === digestOf(content) ? fine : 'DAMAGED'
          }),
        ])
        await until('all have come half-way', () => pausing === work.length, 60_000)
        const victim = cluster.nodes[2]
        await victim?.kill()
        killed.emit('killed')
        await Promise.all(work)
        await victim?.start()
        console.log(journal.summary())
        console.log(causesIn(house))
        expect(journal.summary()).not.to.include('DAMAGED')
        await cluster.untilWhole()
        await expectWhole()
      })

      async function expectWhole(): Promise<void> {
        for (const customer of clients) await expectFiles(customer)
        // Uploads that a node began before it was killed it does not list any more; MinIO removes them after a day.
        for (const node of cluster.nodes) {
          const { endpoint, accessKey, secretKey } = node
          const open = { endpoint, accessKey, secretKey, bucket, staleUploadAfterMs: 0 }
          await until(
            'sweeps have left no unfinished upload',
            async () => {
              const store = await openMinioBlobStore(open)
              const left = await unfinishedUploads(node, bucket)
              await store.close()
              return left.length === 0
            },
            30_000,
          )
        }
      }
    })
  }
})

const customersYaml = `customers:\n${customers
  .map((name) => `  - name: ${name}\n    password: ${cheapHash('pass')}\n`)
  .join('')}`

/** All that was acknowledged is there, and whatever is there is a whole file that was sent. */
async function expectFiles({ client, ledger }: Customer): Promise<void> {
  const list = await client.ask('/list')
  // Without any file there is no list.
  const listed = list.status === 200 ? (JSON.parse(list.text) as string[]) : []
  expect(listed).to.include.members([...ledger.acknowledged()])
  expect(ledger.names()).to.include.members(listed)
  for (const file of listed) {
    const { status, digest } = await client.ask(`/serve/${file}`)
    expect(status, file).to.equal(200)
    expect(ledger.allows(file, digest), file).to.equal(true)
  }
}

async function put(
  { client, ledger }: Customer,
  file: string,
  content: Uint8Array,
  pause = async () => {},
): Promise<Answer> {
  const body = async function* () {
    yield content.subarray(0, content.length / 2)
    await pause()
    yield content.subarray(content.length / 2)
  }
  const digest = digestOf(content)
  ledger.begin(file, digest)
  const answer = await client.ask(`/upload/${file}`, { method: 'PUT', body: body() })
  if (answer.status === 200) ledger.acknowledge(file, digest)
  return answer
}

/** The digest of a file that is read on only after a pause, behind its first bytes. */
async function digestWithPause(
  client: Client,
  file: string,
  pause: () => Promise<void>,
): Promise<string> {
  const hash = createHash('sha256')
  let isPaused = false
  for await (const chunk of (await client.begin(`/serve/${file}`)) as AsyncIterable<Buffer>) {
    hash.update(chunk)
    if (!isPaused) await pause()
    isPaused = true
  }
  return hash.digest('hex')
}

/** What the servers logged as the causes of errors, to be read beside what clients saw; one line each. */
function causesIn({ servers }: House): string {
  const errors = servers
    .flatMap((server) => server.lines())
    .flatMap((line) => (Number(line['level']) >= 50 ? [JSON.stringify(line['err'])] : []))
    .map((error) => error.slice(0, 200))
  const groups = Object.entries(Object.groupBy(errors, (error) => error))
  return groups.map(([error, each = []]) => `      ${each.length} × ${error}`).join('\n')
}
