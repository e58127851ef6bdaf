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
} from '@holdfast/testing'
import {
  startFaultyProxy,
  startRedis,
  type FaultyProxy,
  type RunningRedis,
} from '@holdfast/testing/redis'
import { expect } from 'chai'
import { createClient } from './client.ts'
import { freePorts } from './start-house.ts'
import { startProxy } from './start-proxy.ts'

const KiB = 1024
export const quota = 4096 * KiB
export const maxFiles = 60

export const alice = { 'x-auth-name': 'alice', 'x-auth-password': 'pass' }
export const bob = { 'x-auth-name': 'bob', 'x-auth-password': 'pass' }

const customersYaml = `customers:
  - name: alice
    password: ${cheapHash('pass')}
    quota: ${quota}
    maxFiles: ${maxFiles}
  - name: bob
    password: ${cheapHash('pass')}
`

export interface CountingSiteOptions {
  /** The settings of the store. Default: one directory for all. */
  readonly env?: Readonly<Record<string, string>>
  /** How many processes each server has. Default: 1. */
  readonly workers?: number
  /** The port of MinIO: clients go through HAProxy then. Default: each asks the servers by turns. */
  readonly minioPort?: number
}

export interface Usage {
  readonly bytes: number
  readonly files: number
}

/** Three servers that count together in a Redis, to which each has a way of its own, and clients of one customer with a quota. */
export interface CountingSite {
  readonly redis: RunningRedis
  /** The ways to Redis, in the order of the servers. */
  readonly ways: readonly FaultyProxy[]
  server(index: number): HoldfastServer
  /** Kills a server with all its processes, and starts another one in its place. */
  replace(index: number): Promise<void>
  /**
   * Uploads, replaces and deletes at random by twelve clients for some seconds, mostly near the end of the quota. Resolves with how many
   * requests succeeded.
   */
  work(seconds: number): Promise<number>
  /** What the store has. */
  usage(): Promise<Usage>
  list(customer?: Readonly<Record<string, string>>): Promise<readonly string[]>
  /** The status of the answer; `undefined` if there was none. `n` chooses the server, where there is no proxy. */
  ask(
    n: number,
    path: string,
    init?: { method?: string; body?: Buffer },
  ): Promise<number | undefined>
  /** Checks what the store has. `share`: which part of the quota may be on top, since servers were without Redis. Default: none. */
  expectWithin(share?: number): Promise<void>
  /** How often servers have been without Redis: each then has its share of what was free when it heard of it last. */
  timesAlone(): number
  /** Checks that exactly what is free can be stored, but for what the engine keeps for servers that died. */
  expectNoLeak(): Promise<void>
  /** Waits until all servers reach Redis and know each other. */
  untilTogether(): Promise<void>
  close(): Promise<void>
}

export async function openCountingSite({
  env = {},
  workers = 1,
  minioPort,
}: CountingSiteOptions = {}): Promise<CountingSite> {
  const site = await createSite()
  await site.write('customers.yaml', customersYaml)
  // What was acknowledged survives a restart: the engine keeps its data.
  const redis = await startRedis(['--appendonly', 'yes', '--appendfsync', 'always'])
  const ways = await Promise.all([0, 1, 2].map(() => startFaultyProxy(redis)))
  const [clientsPort = 0, storePort = 0, ...ports] = await freePorts(5)
  const proxy =
    minioPort === undefined
      ? undefined
      : await startProxy('haproxy', {
          clients: clientsPort,
          store: storePort,
          holdfast: ports,
          minio: [minioPort, minioPort, minioPort, minioPort],
        })
  const client = proxy && createClient(proxy, alice)
  const start = async (index: number) =>
    startHoldfast(
      [
        ...['--port', `${ports[index]}`, '--admin-port', '0', '--workers', `${workers}`],
        ...['--shared-url', `redis://127.0.0.1:${ways[index]?.port}`],
      ],
      { cwd: site.path, env },
    )
  const servers: HoldfastServer[] = []
  /** With those that were replaced. */
  const all: HoldfastServer[] = []
  const server = (n: number): HoldfastServer => {
    const found = servers[n % servers.length]
    if (found === undefined) throw new Error('There are three servers')
    return found
  }

  const ask: CountingSite['ask'] = async (n, path, { method = 'GET', body } = {}) => {
    try {
      if (client) {
        const question = {
          method,
          ...(body && { body, headers: { 'content-length': body.length } }),
        }
        return (await client.ask(`/${path}`, question)).status
      }
      const signal = AbortSignal.timeout(60_000)
      const init = { method, headers: alice, signal, ...(body && { body }) }
      const answer = await fetch(`${server(n).url}/${path}`, init)
      await answer.arrayBuffer()
      return answer.status
    } catch {
      return undefined
    }
  }
  const json = async (path: string, headers: Readonly<Record<string, string>> = alice) => {
    const answer = await fetch(`${server(0).url}/${path}`, { headers })
    if (!answer.ok) throw new Error(`/${path} is answered by ${await answer.text()}`)
    const value: unknown = await answer.json()
    return value
  }
  const usage = async () => (await json('usage')) as Usage
  const list: CountingSite['list'] = async (customer) =>
    (await json('list', customer)) as readonly string[]
  const put = (n: number, name: string, size: number) =>
    ask(n, `upload/${name}`, { method: 'PUT', body: Buffer.alloc(size) })
  const remove = (n: number, name: string) => ask(n, `delete/${name}`, { method: 'DELETE' })

  const runClient = async (n: number, end: number): Promise<number> => {
    let done = 0
    for (let step = 0; performance.now() < end; step++) {
      const name = `file-${randomInt(80)}`
      const size = 1 + randomInt((randomInt(5) === 0 ? 900 : 60) * KiB)
      const outcome =
        randomInt(10) < 2 ? await remove(n + step, name) : await put(n + step, name, size)
      if (outcome === 200) done++
      // A server that has just been killed refuses at once.
      if (outcome === undefined || outcome === 503) await delay(20)
    }
    return done
  }

  /** What the account has for servers that do not live. */
  const heldForDead = async (): Promise<Usage> => {
    const fields = (await redis.run('HGETALL', 'holdfast:{alice}:quota')).split('\n')
    const value = (name: string) => Number(fields[fields.indexOf(name) + 1] ?? 0)
    const found = fields.filter((field) => field.startsWith('D:')).map((field) => field.slice(2))
    const sum = (kind: string) =>
      found
        .filter((dead) => fields.includes(kind + dead))
        .reduce((all, dead) => all + value(kind + dead), 0)
    return { bytes: sum('P:'), files: sum('Q:') }
  }

  /** What may explain that more is stored than the quota allows. */
  const describeState = async ({ bytes, files }: Usage, share: number) => {
    // It may be suspended.
    const account = await redis.run('HGETALL', 'holdfast:{alice}:quota').catch(String)
    const said = all.flatMap((each, at) =>
      each
        .lines()
        .filter(({ level }) => Number(level) >= warning)
        .map((line) => `server ${at}, ${each.pid}: ${JSON.stringify(line)}`),
    )
    return [
      `${bytes} bytes and ${files} files are stored, of ${quota} and ${maxFiles} and ${share} more`,
      `the account: ${account.replaceAll('\n', ' ')}`,
      ...said,
    ].join('\n')
  }

  const untilTogether = async () => {
    const ports = await Promise.all(servers.map(async (each) => adminPortOf(each)))
    const stateOf = async (port: AdminPort) =>
      (await port.ready()).checks.find(({ name }) => name === 'shared counts')
    await until('all servers count together', async () => {
      const states = await Promise.all(ports.map(stateOf))
      return states.every((state) => state?.why === undefined && Number(state?.['servers']) >= 3)
    })
  }

  const close = async () => {
    servers.forEach((each) => each.signal('SIGCONT'))
    await Promise.all(servers.map((each) => each.kill()))
    client?.close()
    await proxy?.stop()
    await Promise.all(ways.map((way) => way.close()))
    await redis.stop()
    await site.remove()
  }
  try {
    for (const index of [0, 1, 2]) servers.push(await start(index))
    all.push(...servers)
    await untilTogether()
    if (proxy) {
      await until('the proxy reaches a server', async () => (await ask(0, 'ping')) === 200)
    }
  } catch (error) {
    await close()
    throw error
  }

  return {
    redis,
    ways,
    server,
    async replace(index) {
      await server(index).kill()
      servers[index] = await start(index)
      all.push(server(index))
    },
    async work(seconds) {
      const end = performance.now() + 1_000 * seconds
      const all = await Promise.all(Array.from({ length: 12 }, async (_, n) => runClient(n, end)))
      return all.reduce((sum, done) => sum + done, 0)
    },
    usage,
    list,
    ask,
    async expectWithin(share = 0) {
      const stored = await usage()
      const isWithin = stored.bytes <= quota * (1 + share) && stored.files <= maxFiles * (1 + share)
      if (!isWithin) expect.fail(await describeState(stored, share))
    },
    timesAlone: () => all.reduce((sum, each) => sum + aloneLines(each), 0),
    async expectNoLeak() {
      for (const name of (await list()).slice(0, 12)) await remove(0, name)
      const used = await usage()
      let held = await heldForDead()
      let free = 0
      await until(
        () => `${free} bytes can be stored beside ${used.bytes}, and ${held.bytes} for the dead`,
        async () => {
          // The others find a server dead only after its lease.
          held = await heldForDead()
          expect(used.files + held.files, 'files').to.be.below(maxFiles)
          free = quota - used.bytes - held.bytes
          return (await put(1, 'last', free)) === 200
        },
        60_000,
      )
      expect(await put(2, 'more', held.bytes + 1)).to.equal(413)
    },
    untilTogether,
    close,
  }
}

/** The level of warnings in the log. */
const warning = 40

function aloneLines(server: HoldfastServer): number {
  return server.lines().filter(({ msg }) => String(msg).startsWith('shared counts away')).length
}
