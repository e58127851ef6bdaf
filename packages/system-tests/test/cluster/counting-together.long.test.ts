// Three servers on one directory, each with its own way to a Redis. The oracle is what the store has.
import { randomInt } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import {
  adminPortOf,
  cheapHash,
  createSite,
  startHoldfast,
  until,
  type AdminPort,
  type HoldfastServer,
  type Site,
} from '@holdfast/testing'
import {
  startFaultyProxy,
  startRedis,
  type FaultyProxy,
  type RunningRedis,
} from '@holdfast/testing/redis'
import { expect } from 'chai'

const KiB = 1024
const quota = 4096 * KiB
const maxFiles = 60

const customersYaml = `customers:
  - name: alice
    password: ${cheapHash('pass')}
    quota: ${quota}
    maxFiles: ${maxFiles}
  - name: bob
    password: ${cheapHash('pass')}
`

const alice = { 'x-auth-name': 'alice', 'x-auth-password': 'pass' }
const bob = { 'x-auth-name': 'bob', 'x-auth-password': 'pass' }

interface Usage {
  readonly bytes: number
  readonly files: number
}

describe('Three servers that count together in Redis', function () {
  this.timeout(300_000)
  let site: Site
  let redis: RunningRedis
  let ways: FaultyProxy[]
  let servers: HoldfastServer[]

  const start = async (index: number) =>
    startHoldfast(['--shared-url', `redis://127.0.0.1:${ways[index]?.port}`, '--admin-port', '0'], {
      cwd: site.path,
    })

  beforeEach(async () => {
    site = await createSite()
    await site.write('customers.yaml', customersYaml)
    redis = await startRedis(['--appendonly', 'yes', '--appendfsync', 'always'])
    ways = await Promise.all([0, 1, 2].map(() => startFaultyProxy(redis)))
    servers = []
    for (const index of [0, 1, 2]) servers.push(await start(index))
    await untilTogether(servers)
  })

  afterEach(async () => {
    servers.forEach((server) => server.signal('SIGCONT'))
    await Promise.all(servers.map((server) => server.kill()))
    await Promise.all(ways.map((way) => way.close()))
    await redis.stop()
    await site.remove()
  })

  const serverAt = (index: number): HoldfastServer => {
    const server = servers[index % servers.length]
    if (server === undefined) throw new Error('There are three servers')
    return server
  }

  /** Uploads, replaces and deletes at random for some seconds, mostly near the end of the quota. Resolves with how many succeeded. */
  const work = async (seconds: number): Promise<number> => {
    const end = performance.now() + 1_000 * seconds
    let done = 0
    const client = async (n: number) => {
      for (let step = 0; performance.now() < end; step++) {
        const name = `file-${randomInt(80)}`
        const target = serverAt(n + step)
        const isDeletion = randomInt(10) < 2
        const outcome = isDeletion
          ? await ask(target, `delete/${name}`, { method: 'DELETE' })
          : await ask(target, `upload/${name}`, {
              method: 'PUT',
              body: content(randomInt(5) === 0 ? 900 : 60),
            })
        if (outcome === 200) done++
        // A server that has just been killed refuses at once.
        if (outcome === undefined) await delay(20)
      }
    }
    await Promise.all(Array.from({ length: 12 }, async (_, n) => client(n)))
    return done
  }

  const expectWithin = async (mostBytes: number) => {
    const usage = await usageOf(serverAt(0))
    expect(usage.bytes, 'stored bytes').to.be.at.most(mostBytes)
    expect(usage.files, 'stored files').to.be.at.most(maxFiles)
  }

  /** Checks that exactly what is free can be stored, but for what the engine keeps for servers that died. */
  const expectNoLeak = async () => {
    for (const name of (await listOf(serverAt(0))).slice(0, 12)) {
      await ask(serverAt(0), `delete/${name}`, { method: 'DELETE' })
    }
    const used = await usageOf(serverAt(0))
    const held = await heldForDead()
    const free = quota - used.bytes - held.bytes
    expect(used.files + held.files, 'files').to.be.below(maxFiles)
    const put = async (index: number, name: string, size: number) =>
      ask(serverAt(index), `upload/${name}`, { method: 'PUT', body: Buffer.alloc(size) })
    await until(
      () => `${free} bytes can be stored beside ${used.bytes} and ${held.bytes} for the dead`,
      async () => (await put(1, 'last', free)) === 200,
    )
    expect(await put(2, 'more', held.bytes + 1)).to.equal(413)
  }

  /** What the account has for servers that were found dead. */
  const heldForDead = async (): Promise<Usage> => {
    const fields = (await redis.run('HGETALL', 'holdfast:{alice}:quota')).split('\n')
    const value = (name: string) => {
      const at = fields.indexOf(name)
      return at === -1 ? 0 : Number(fields[at + 1])
    }
    const alive = (await redis.run('HKEYS', 'holdfast:servers')).split('\n')
    const dead = fields
      .filter((field) => /^[AF]:/.test(field))
      .map((field) => field.slice(2))
      .filter((server) => value(`D:${server}`) === 1 || !alive.includes(server))
    return [...new Set(dead)].reduce(
      (all, server) => ({
        bytes: all.bytes + value(`P:${server}`),
        files: all.files + value(`Q:${server}`),
      }),
      { bytes: 0, files: 0 },
    )
  }

  it('store no more than the quota, and can use all of it', async () => {
    expect(await work(8)).to.be.above(50)
    await expectWithin(quota)
    await expectNoLeak()
  })

  it('store no more than the quota over a slow network that resets connections', async () => {
    ways[0]?.delay(60)
    ways[1]?.delay(20)
    const cutting = setInterval(() => ways[randomInt(3)]?.cut(), 1_500)
    expect(await work(10)).to.be.above(20)
    clearInterval(cutting)
    ways.forEach((way) => way.release())
    await expectWithin(quota)
    await untilTogether(servers)
    await work(2)
    await expectWithin(quota)
    await expectNoLeak()
  })

  it('store no more than the quota when servers are killed and replaced', async () => {
    const working = work(24)
    for (const index of [0, 1, 2]) {
      await delay(3_000)
      await serverAt(index).kill()
      servers[index] = await start(index)
    }
    expect(await working).to.be.above(50)
    await expectWithin(quota)
    await expectNoLeak()
  })

  it('store no more than the quota when a server stands still for longer than its lease', async () => {
    const working = work(30)
    await delay(2_000)
    serverAt(1).signal('SIGSTOP')
    await delay(15_000)
    serverAt(1).signal('SIGCONT')
    expect(await working).to.be.above(50)
    await expectWithin(quota)
    await untilTogether(servers)
    await expectNoLeak()
  })

  it('go on without Redis, and store at most their shares of what was free', async () => {
    await work(3)
    redis.suspend()
    expect(await work(5)).to.be.above(20)
    // Each may have known another state of what was free.
    await expectWithin(quota + quota / 3)
    redis.resume()
    await untilTogether(servers)
    const before = await usageOf(serverAt(0))
    await work(3)
    await expectWithin(Math.max(quota, before.bytes))
    await redis.kill()
    expect(await work(4)).to.be.above(10)
    await redis.restart()
    await untilTogether(servers)
    await work(3)
    await expectWithin(quota + quota / 3)
    for (const name of (await listOf(serverAt(0))).slice(0, 20)) {
      await ask(serverAt(1), `delete/${name}`, { method: 'DELETE' })
    }
    await work(3)
    await expectWithin(quota)
    await expectNoLeak()
  })

  it('let a link store exactly its number of files', async () => {
    const answer = await fetch(`${serverAt(0).url}/link/guest-`, {
      method: 'POST',
      headers: { ...bob, 'content-type': 'application/json' },
      body: JSON.stringify({ verb: 'upload', prefix: true, maxFiles: 7 }),
    })
    const link = new URL(((await answer.json()) as { url: string }).url)
    const outcomes = await Promise.all(
      Array.from({ length: 60 }, async (_, n) => {
        const url = new URL(`${link.pathname}${n}${link.search}`, serverAt(n).url)
        for (let attempt = 0; attempt < 40; attempt++) {
          const uploaded = await fetch(url, { method: 'PUT', body: Buffer.alloc(100) })
          await uploaded.arrayBuffer()
          if (uploaded.status !== 503) return uploaded.status
          await delay(50 + randomInt(200))
        }
        return 503
      }),
    )
    expect(outcomes.filter((status) => status === 200)).to.have.length(7)
    const names = await listOf(serverAt(1), bob)
    expect(names.filter((name) => name.startsWith('guest-'))).to.have.length(7)
  })

  it('allow a guesser no more guesses than one server does', async () => {
    const wrong = { ...alice, 'x-auth-password': 'wrong' }
    const statuses = await Promise.all(
      Array.from({ length: 240 }, async (_, n) => {
        const answer = await fetch(`${serverAt(n).url}/list`, {
          headers: { ...wrong, 'x-auth-name': `alice${n}` },
        })
        await answer.arrayBuffer()
        return answer.status
      }),
    )
    const verified = statuses.filter((status) => status === 400).length
    expect(verified).to.be.within(28, 33)
    for (const server of servers) {
      const answer = await fetch(`${server.url}/list`, { headers: wrong })
      expect(answer.status).to.equal(429)
    }
  })
})

function content(mostKiB: number): Buffer {
  return Buffer.alloc(1 + randomInt(mostKiB * KiB))
}

/** The status of the answer; `undefined` if there was none. */
async function ask(
  server: HoldfastServer,
  path: string,
  init: RequestInit,
): Promise<number | undefined> {
  try {
    const answer = await fetch(`${server.url}/${path}`, {
      ...init,
      headers: alice,
      signal: AbortSignal.timeout(30_000),
    })
    await answer.arrayBuffer()
    return answer.status
  } catch {
    return undefined
  }
}

async function usageOf({ url }: HoldfastServer): Promise<Usage> {
  const answer = await fetch(`${url}/usage`, { headers: alice })
  return (await answer.json()) as Usage
}

async function listOf(
  { url }: HoldfastServer,
  headers: Record<string, string> = alice,
): Promise<readonly string[]> {
  const answer = await fetch(`${url}/list`, { headers })
  return (await answer.json()) as readonly string[]
}

/** Waits until all servers count together. */
async function untilTogether(servers: readonly HoldfastServer[]): Promise<void> {
  const ports = await Promise.all(servers.map(async (server) => adminPortOf(server)))
  const stateOf = async (port: AdminPort) =>
    (await port.ready()).checks.find(({ name }) => name === 'shared counts')
  await until('all servers count together', async () => {
    const states = await Promise.all(ports.map(stateOf))
    return states.every((state) => state?.why === undefined && Number(state?.['servers']) >= 3)
  })
}
