import { createHash, randomUUID } from 'node:crypto'
import { createClient, type RedisClientType } from '@redis/client'

/** A Lua script that the engine runs as one step. */
export interface Script {
  readonly source: string
  /** Its SHA-1, by which the engine knows it. */
  readonly sha1: string
}

export function script(source: string): Script {
  return { source, sha1: createHash('sha1').update(source).digest('hex') }
}

/** The engine does not answer, or has not answered in time. What was asked may have happened. */
export class EngineAwayError extends Error {}

/** The other servers, as this one has seen them. */
export interface Servers {
  /** The id of this server: new at each start. */
  readonly own: string
  /** How many servers there are, this one included: those that have shown a sign of life within a minute. */
  count(): number
  /** Whether the server has shown no sign of life for a lease, as long as this one has watched. */
  isDead(server: string): boolean
  /**
   * Whether this server may still begin what another one could take over after its death: the others see it alive for at least two
   * more seconds.
   */
  hasLease(): boolean
}

/** An engine that servers share: Valkey or Redis. */
export interface Engine {
  readonly servers: Servers
  /** A key of the service, or one of `customer`, whose keys are on one node of a cluster. */
  key(name: string, customer?: string): string
  /**
   * Runs a script.
   * @throws EngineAwayError after 250 ms, and at once while the engine is known to be away
   */
  run(
    script: Script,
    keys: readonly string[],
    args?: readonly (string | number)[],
  ): Promise<unknown>
  /** Sends a message to all other servers. It may be lost. */
  notify(topic: string, message: unknown): void
  /** Calls `listener` for each message of other servers. */
  onMessage(topic: string, listener: (message: unknown, server: string) => void): void
  /** Names the data that the engine has: another one if it may have lost some, since it was started again or failed over. */
  history(): string
  isAway(): boolean
  /** Calls `listener` when the engine is away, and when it is back. */
  onChange(listener: (isAway: boolean) => void): void
  close(): Promise<void>
}

export interface EngineOptions {
  /** As in `redis://HOST:6379/0` or `rediss://USER@HOST`. */
  readonly url: string
  readonly username?: string
  readonly password?: string
  /** What all keys begin with. Default: `holdfast`. Servers with equal prefixes count together. */
  readonly prefix?: string
  /** After how long without a sign of life a server is dead, in milliseconds. Default: 10,000. */
  readonly leaseMs?: number
  /** How long a request waits for the engine, in milliseconds. Default: 250. */
  readonly timeoutMs?: number
  /** A time in milliseconds that never goes back. Default: that of `performance.now`. */
  readonly now?: () => number
}

/** Counts a sign of life, and returns those of all servers. */
const beat = script(`
redis.call('HINCRBY', KEYS[1], ARGV[1], 1)
redis.call('EXPIRE', KEYS[1], 86400)
return redis.call('HGETALL', KEYS[1])
`)

const leave = script(`return redis.call('HDEL', KEYS[1], ARGV[1])`)

/** How many signs of life a server gives within a lease. */
const beatsPerLease = 10

/** For how long a server counts after its last sign of life, in milliseconds. */
const rememberedMs = 60_000

/** Connects to the engine. */
export async function openEngine({
  url,
  username,
  password,
  prefix = 'holdfast',
  leaseMs = 10_000,
  timeoutMs = 250,
  now = () => performance.now(),
}: EngineOptions): Promise<Engine> {
  const own = randomUUID()
  const seen = new Map<string, { beats: string; changedAt: number }>()
  const listeners = new Map<string, ((message: unknown, server: string) => void)[]>()
  const changeListeners: ((isAway: boolean) => void)[] = []
  let away = true
  let history = ''
  let leaseBegan = -Infinity

  const client: RedisClientType = createClient({
    url,
    ...(username !== undefined && { username }),
    ...(password !== undefined && { password }),
    disableOfflineQueue: true,
    socket: {
      connectTimeout: 1_000,
      reconnectStrategy: (tries) => Math.min(1_000, 50 * 2 ** tries),
    },
  })
  const subscriber = client.duplicate()
  const setAway = (isAway: boolean) => {
    if (isAway === away) return
    away = isAway
    for (const listener of changeListeners) listener(isAway)
  }
  client.on('error', () => setAway(true))
  subscriber.on('error', () => {})

  const key = (name: string, customer?: string) =>
    customer === undefined ? `${prefix}:${name}` : `${prefix}:{${customer}}:${name}`

  /** Rejects if the engine takes longer than a request may wait. */
  const inTime = async <T>(work: Promise<T>): Promise<T> => {
    const { promise, reject } = Promise.withResolvers<never>()
    const timer = setTimeout(() => {
      setAway(true)
      reject(new EngineAwayError(`The engine has not answered within ${timeoutMs} ms`))
    }, timeoutMs)
    work.catch(() => {})
    try {
      return await Promise.race([work, promise])
    } finally {
      clearTimeout(timer)
    }
  }
  const evaluate = async (
    { source, sha1 }: Script,
    keys: readonly string[],
    args: readonly (string | number)[],
  ) => {
    const options = { keys: [...keys], arguments: args.map(String) }
    try {
      return await client.evalSha(sha1, options)
    } catch (error) {
      if (!String(error).includes('NOSCRIPT')) throw error
      return client.eval(source, options)
    }
  }
  const readHistory = async () => {
    const info = `${await client.info('server')}\n${await client.info('replication')}`
    const field = (name: string) => new RegExp(`^${name}:(\\S+)`, 'm').exec(info)?.[1] ?? ''
    return `${field('run_id')}.${field('master_replid')}`
  }

  const giveBeat = async () => {
    const sentAt = now()
    const isBack = away
    if (isBack) history = await inTime(readHistory())
    const all = (await inTime(evaluate(beat, [key('servers')], [own]))) as string[]
    leaseBegan = sentAt
    for (let at = 0; at < all.length; at += 2) {
      const [server = '', beats = ''] = all.slice(at, at + 2)
      if (seen.get(server)?.beats !== beats) seen.set(server, { beats, changedAt: now() })
    }
    setAway(false)
  }
  const timer = setInterval(
    () => void giveBeat().catch(() => setAway(true)),
    leaseMs / beatsPerLease,
  )
  timer.unref()

  await client.connect()
  await subscriber.connect()
  await subscriber.subscribe(key('messages'), (text) => {
    const { server, topic, message } = JSON.parse(text) as {
      server: string
      topic: string
      message: unknown
    }
    if (server === own) return
    for (const listener of listeners.get(topic) ?? []) listener(message, server)
  })
  await giveBeat()

  return {
    servers: {
      own,
      count: () =>
        Math.max(
          1,
          [...seen.values()].filter(({ changedAt }) => now() - changedAt < rememberedMs).length,
        ),
      isDead(server) {
        const state = seen.get(server)
        if (state === undefined) {
          // Watched from now on.
          seen.set(server, { beats: '', changedAt: now() })
          return false
        }
        return server !== own && now() - state.changedAt > leaseMs
      },
      hasLease: () => now() - leaseBegan < leaseMs - 2_000,
    },
    key,
    async run(wanted, keys, args = []) {
      if (away) throw new EngineAwayError('The engine is away')
      try {
        return await inTime(evaluate(wanted, keys, args))
      } catch (error) {
        if (error instanceof EngineAwayError || client.isReady) throw error
        setAway(true)
        throw new EngineAwayError('The connection to the engine is lost', { cause: error })
      }
    },
    notify(topic, message) {
      if (away) return
      client
        .publish(key('messages'), JSON.stringify({ server: own, topic, message }))
        .catch(() => {})
    },
    onMessage(topic, listener) {
      listeners.set(topic, [...(listeners.get(topic) ?? []), listener])
    },
    history: () => history,
    isAway: () => away,
    onChange: (listener) => void changeListeners.push(listener),
    async close() {
      clearInterval(timer)
      await inTime(evaluate(leave, [key('servers')], [own])).catch(() => {})
      client.destroy()
      subscriber.destroy()
    },
  }
}
