import { script } from './keys-and-scripts.ts'

/** The other servers, as this one has seen them. */
export interface Servers {
  /** The id of this server: new at each start. */
  readonly own: string
  /**
   * How many servers there are, this one included: those that have shown a sign of life within a minute. While the engine is away, as
   * many as before.
   */
  count(): number
  /**
   * Whether this server has seen no sign of life of the other one for a lease. Only time counts in which this server itself reached the
   * engine without a gap of more than a third of a lease; after a gap, it begins to watch anew. A server that this one has never seen is
   * watched from the first call on. This server itself is never dead.
   */
  isDead(server: string): boolean
  /**
   * Whether this server may still begin what another one could take over after its death: the others see it alive for at least two
   * more seconds. `false` at once after this process was suspended for too long. Only a machine that is suspended as a whole, and its
   * clock with it, does not notice.
   */
  hasLease(): boolean
}

/** Counts a sign of life, and returns those of all servers. The key goes a day after the last one. */
export const beatScript = script(`
redis.call('HINCRBY', KEYS[1], ARGV[1], 1)
redis.call('EXPIRE', KEYS[1], 86400)
return redis.call('HGETALL', KEYS[1])
`)

/** Leaves a mark rather than nothing: an engine that has lost its data has nothing of servers that are alive. */
export const leaveScript = script(`
redis.call('HSET', KEYS[1], ARGV[1], 'left')
return redis.call('EXPIRE', KEYS[1], 86400)
`)

/** Removes servers that have not come back since: pairs of a server and its last sign of life. */
export const forgetScript = script(`
for at = 1, #ARGV, 2 do
  if redis.call('HGET', KEYS[1], ARGV[at]) == ARGV[at + 1] then redis.call('HDEL', KEYS[1], ARGV[at]) end
end
return 1
`)

/** For how long a server counts after its last sign of life, in milliseconds. */
const rememberedMs = 60_000

/** After how long without a sign of life the engine no longer keeps a server, in milliseconds. */
const forgottenMs = 3_600_000

/** The others have to see a sign of life, and to believe in this server, for this long after `hasLease`, in milliseconds. */
const leaseMarginMs = 2_000

/** How many servers are removed from the engine at once. */
const forgottenAtOnce = 50

interface SeenServer {
  readonly beats: string
  /** When this server saw the number change, or began to look at it. */
  readonly changedAt: number
}

/** The watch over the servers, which heartbeats feed. */
export interface ServerWatch {
  readonly servers: Servers
  /** Takes in what {@link beatScript} has returned for a heartbeat that was sent at `sentAt`. */
  observe(answer: unknown, sentAt: number): void
  /** Begins to watch anew: the engine may have lost signs of life. */
  restart(): void
  /** The arguments for {@link forgetScript}; empty if there is nothing to remove. */
  forgotten(): readonly string[]
}

/** Makes a {@link ServerWatch} that reads the time from `now`, in milliseconds. */
export function createServerWatch(
  own: string,
  { leaseMs, now }: { readonly leaseMs: number; readonly now: () => number },
): ServerWatch {
  const seen = new Map<string, SeenServer>()
  const longestGapMs = leaseMs / 3
  let watchedSince = now()
  // When the latest heartbeat that was answered was sent, and when it was answered.
  let lastSentAt = -Infinity
  let lastSeenAt = -Infinity

  /** For how long this server has seen none, as its observations show: an answer shows what was when it was sent, or later. */
  const silence = ({ changedAt }: SeenServer) => lastSentAt - Math.max(changedAt, watchedSince)

  return {
    servers: {
      own,
      count() {
        const counted = [...seen].filter(
          ([server, { beats, changedAt }]) =>
            server !== own &&
            beats !== '' &&
            beats !== 'left' &&
            lastSentAt - changedAt < rememberedMs,
        )
        return 1 + counted.length
      },
      isDead(server) {
        if (server === own) return false
        const state = seen.get(server)
        if (state !== undefined) {
          return silence(state) > leaseMs && now() - lastSeenAt <= longestGapMs
        }
        seen.set(server, { beats: '', changedAt: now() })
        return false
      },
      hasLease: () => now() - lastSentAt < leaseMs - leaseMarginMs,
    },
    observe(answer, sentAt) {
      const at = now()
      if (at - lastSeenAt > longestGapMs) watchedSince = at
      lastSeenAt = at
      lastSentAt = sentAt
      const rows = Array.isArray(answer) ? answer.map(String) : []
      const present = new Set<string>()
      for (let nth = 0; nth < rows.length; nth += 2) {
        const [server = '', beats = ''] = rows.slice(nth, nth + 2)
        present.add(server)
        if (seen.get(server)?.beats !== beats) seen.set(server, { beats, changedAt: at })
      }
      for (const [server, { changedAt }] of seen) {
        if (!present.has(server) && at - changedAt > forgottenMs) seen.delete(server)
      }
    },
    restart() {
      watchedSince = now()
    },
    forgotten: () =>
      [...seen]
        .filter(([server, state]) => server !== own && silence(state) > forgottenMs)
        .filter(([, { beats }]) => beats !== '')
        .slice(0, forgottenAtOnce)
        .flatMap(([server, { beats }]) => [server, beats]),
  }
}
