import { script, type Engine } from '../engine/engine.ts'
import { keyDigest } from '../engine/keys.ts'

/** How long the engine keeps what it knows of a lock, in milliseconds, unless a holder renews it. */
export const lockTtlMs = 3_600_000

/** How long a holder that has lost a lock and never releases it counts, in milliseconds from the last loss. */
const lostTtlMs = 600_000

/** For how long the lock is kept free for the server that has waited for it, in milliseconds. It asks again sooner. */
const reservedMs = 300

/** The lock of one key, as the engine has it. */
export interface EngineLock {
  /** Names the lock in messages. */
  readonly id: string
  /**
   * Takes the lock if it is free, or if `deadToken` holds it; that holder then counts as lost. If `token` holds it already, the
   * answer of the first call was lost, and this one is the same.
   *
   * @param holder equal for calls of a server between which it would have seen any other holder
   */
  take(token: string, holder: string, deadToken: string): Promise<TakeAnswer>
  /**
   * Ends the holding of `token`, also if it has lost the lock, and returns whether the lock is free now.
   *
   * @param isSure whether no one else held the lock meanwhile; otherwise no one is the same holder next time
   */
  release(token: string, isSure: boolean): Promise<boolean>
  /** Frees the lock, and counts `token` as lost until it is released. */
  lose(token: string): Promise<unknown>
  /** Keeps the lock for longer, and takes it again if it is free: the engine may have lost its data. */
  renew(token: string): Promise<unknown>
}

export type TakeAnswer =
  | {
      readonly isTaken: true
      readonly isSameHolder: boolean
      /** How many have lost the lock and not released it. */
      readonly lostHolders: number
    }
  | {
      readonly isTaken: false
      /** The server that holds it; empty if it is kept free for another one. */
      readonly owner: string
      readonly token: string
    }

/**
 * KEYS: the lock, its last holder, the lost holders by token, the server that comes next. ARGV: server, token, holder, dead token.
 *
 * A lock that another server waits for is kept free for that one: otherwise a server with many waiters of its own would take it
 * again and again, since it asks first.
 */
const take = script(`
local owner, token, same = unpack(redis.call('HMGET', KEYS[1], 'owner', 'token', 'same'))
if token == ARGV[2] then return {1, same, redis.call('HLEN', KEYS[3])} end
if token and token == ARGV[4] then
  redis.call('HSET', KEYS[3], token, owner)
  redis.call('PEXPIRE', KEYS[3], ${lostTtlMs})
  redis.call('DEL', KEYS[1], KEYS[2])
  token = false
end
local next = redis.call('GET', KEYS[4])
if next == ARGV[1] then next = false end
if token or next then
  if not next then redis.call('SET', KEYS[4], ARGV[1], 'PX', ${reservedMs}) end
  if not token then return {0, '', ''} end
  return {0, owner, token}
end
same = 0
if redis.call('GET', KEYS[2]) == ARGV[3] then same = 1 end
redis.call('HSET', KEYS[1], 'owner', ARGV[1], 'token', ARGV[2], 'same', same)
redis.call('PEXPIRE', KEYS[1], ${lockTtlMs})
redis.call('SET', KEYS[2], ARGV[3], 'PX', ${lockTtlMs})
redis.call('DEL', KEYS[4])
return {1, same, redis.call('HLEN', KEYS[3])}
`)

const release = script(`
local isHeld = redis.call('HGET', KEYS[1], 'token') == ARGV[1]
if isHeld then redis.call('DEL', KEYS[1]) end
redis.call('HDEL', KEYS[3], ARGV[1])
if not isHeld or ARGV[2] == '0' then redis.call('DEL', KEYS[2]) end
if isHeld then return 1 end
return 0
`)

const lose = script(`
if redis.call('HGET', KEYS[1], 'token') ~= ARGV[2] then return end
redis.call('HSET', KEYS[3], ARGV[2], ARGV[1])
redis.call('PEXPIRE', KEYS[3], ${lostTtlMs})
redis.call('DEL', KEYS[1], KEYS[2])
`)

const renew = script(`
local token = redis.call('HGET', KEYS[1], 'token')
if token and token ~= ARGV[2] then return end
if not token then redis.call('HSET', KEYS[1], 'owner', ARGV[1], 'token', ARGV[2], 'same', 0) end
redis.call('PEXPIRE', KEYS[1], ${lockTtlMs})
`)

/** The lock of `key`, whose keys are on one node of a cluster. */
export function lockInEngine(engine: Engine, key: string): EngineLock {
  return lockById(engine, keyDigest(key))
}

/** The lock with the `id` of a message. */
export function lockById(engine: Engine, id: string): EngineLock {
  const { own } = engine.servers
  const keys = ['lock', 'lock-last', 'lock-lost', 'lock-next'].map((name) => engine.key(name, id))
  return {
    id,
    take: async (token, holder, deadToken) =>
      readAnswer(await engine.run(take, keys, [own, token, holder, deadToken])),
    release: async (token, isSure) =>
      (await engine.run(release, keys, [token, isSure ? '1' : '0'])) === 1,
    lose: (token) => engine.run(lose, keys, [own, token]),
    renew: (token) => engine.run(renew, keys, [own, token]),
  }
}

function readAnswer(reply: unknown): TakeAnswer {
  const [isTaken, second, third] = reply as readonly unknown[]
  if (isTaken === 1) {
    return { isTaken: true, isSameHolder: Number(second) === 1, lostHolders: Number(third) }
  }
  return { isTaken: false, owner: String(second), token: String(third) }
}
