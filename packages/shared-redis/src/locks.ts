import { randomUUID } from 'node:crypto'
import { createKeyedLock, type HeldLock } from '@holdfast/core'
import { type Engine, requireEngine, script } from './engine/engine.ts'
import { keyDigest } from './engine/keys-and-scripts.ts'
import { createOutbox, type Outbox } from './engine/outbox.ts'

/** A held lock of {@link SharedLocks}. */
export interface SharedHeldLock extends HeldLock {
  /**
   * Gives the lock to the next one although the holder may still act, as a suspended process does later. The holder counts among the
   * `lostHolders` until `release`.
   */
  readonly lose: () => void
}

/** One lock for each key, of all servers: `RevocableLocks` of core. Calls on one server get the lock in their order. */
export type SharedLocks = (key: string) => Promise<SharedHeldLock>

/** What servers send each other. */
type LockMessage =
  | { readonly freed: string }
  /** The sender waits for the lock `id`, which `owner` holds by `token` as the engine knows. */
  | { readonly id: string; readonly owner: string; readonly token: string }

const topic = 'locks'

/** A take that fails sooner than that, in milliseconds, is sent once more: the engine did not let the caller wait. */
const retryWithinMs = 20

/** After how many polls a waiting server asks the owner whether it holds the lock indeed. */
const pollsPerQuestion = 10

/** Of how many keys the `lostHolders` are remembered. */
const mostRemembered = 10_000

/**
 * Makes {@link SharedLocks}. A server holds a lock for as long as it lives; there is no limit of time. When it is dead (see
 * `Servers.isDead`), the next one takes the lock over, and the dead server counts among the `lostHolders`, until it releases the
 * lock, having come back, or for ten minutes: it may have been suspended and act later. A server that waits gets the lock before
 * the last holder gets it again.
 *
 * While the engine is away, and after 250 ms without its answer, a lock is one of this server only: `isSameHolder` is `false`, and
 * `lostHolders` is as last known. So several servers may hold the lock of a key at the same time, one holder each: a link may store
 * more files than its number, at most one more for each other server, if all are without the engine. If some servers reach the
 * engine and others do not, a server that does may trust its earlier count of files, until the others reach the engine again and
 * release what they held; until then both may use up what was left of the link. When the engine is back, locks that are still held
 * are entered there if they are free. The next take on this server waits for the local holder in any case.
 *
 * A release reaches the engine in the end, so that a living server leaves no lock behind.
 *
 * @throws TypeError that says why it is not an engine
 */
export function createSharedLocks(engine: Engine): SharedLocks {
  requireEngine(engine)
  const local = createKeyedLock()
  // After that, the engine has forgotten the lock.
  const outbox = createOutbox(engine, { maxAgeMs: lockTtlMs })
  const registry = createRegistry(engine, outbox)
  const takeInEngine = createTake(engine, registry)

  return async (key) => {
    const unlock = await local(key)
    const lock = lockInEngine(engine, key)
    const token = randomUUID()
    registry.begin(token)
    const { isTaken, isSameHolder, lostHolders } = await takeInEngine(lock, token)
    registry.hold(token, lock, isTaken)
    const renewal = setInterval(() => registry.renew(token), lockTtlMs / 3).unref()

    let isHeld = true
    let isReleased = false
    const giveUp = (work: () => Promise<unknown>) => {
      clearInterval(renewal)
      registry.drop(token)
      // It is sent before the next take of this server, which `unlock` starts.
      void outbox.add(work)
      if (isHeld) unlock()
      isHeld = false
    }
    return {
      isSameHolder,
      lostHolders,
      lose() {
        if (!isHeld) return
        giveUp(async () => {
          await lock.lose(token)
          registry.reportFree(lock)
        })
      },
      release() {
        if (isReleased) return
        isReleased = true
        giveUp(async () => {
          const isFree = await lock.release(token, isTaken)
          registry.end(token)
          if (isFree) registry.reportFree(lock)
        })
      },
    }
  }
}

/** What this server holds and waits for. */
interface Registry {
  /** From now on the engine may give a lock to `token`. */
  begin(token: string): void
  /** @param isTaken whether the engine has given the lock to `token` */
  hold(token: string, lock: EngineLock, isTaken: boolean): void
  renew(token: string): void
  /** The holder gives the lock up. */
  drop(token: string): void
  /** The engine knows that `token` holds nothing. */
  end(token: string): void
  /** Wakes the servers that wait for the lock. */
  reportFree(lock: EngineLock): void
  /** Resolves when the lock is free, or it is time to look. */
  woken(lock: EngineLock): Promise<void>
  /** Releases the lock of a token of this server that neither holds nor releases it: its take came to the engine too late. */
  releaseStale(lock: EngineLock, token: string): void
}

function createRegistry(engine: Engine, outbox: Outbox): Registry {
  const tokens = new Set<string>()
  const held = new Map<string, EngineLock>()
  // By the lock's id. There is one waiter for each, the first of the local queue.
  const waiters = new Map<string, () => void>()

  const renew = (token: string) => {
    // If that fails, the engine is away, and this is repeated when it is back.
    held
      .get(token)
      ?.renew(token)
      .catch(() => {})
  }
  const releaseStale = (lock: EngineLock, token: string) => {
    if (!tokens.has(token) && !held.has(token)) void outbox.add(() => lock.release(token, false))
  }
  engine.onChange((isAway) => {
    if (isAway) for (const wake of waiters.values()) wake()
    else for (const token of held.keys()) renew(token)
  })
  engine.onMessage(topic, (message) => {
    const sent = message as LockMessage
    if ('freed' in sent) waiters.get(sent.freed)?.()
    else if (sent.owner === engine.servers.own) releaseStale(lockById(engine, sent.id), sent.token)
  })
  return {
    begin: (token) => void tokens.add(token),
    hold(token, lock, isTaken) {
      held.set(token, lock)
      // The engine may not have answered. What it has done then is found as stale.
      if (!isTaken) tokens.delete(token)
    },
    renew,
    drop: (token) => void held.delete(token),
    // At the end of the tick: an answer that still has the token as holder may have come together with that to its release.
    end: (token) => void setImmediate(() => tokens.delete(token)),
    reportFree({ id }) {
      // A waiter of this server may have asked first.
      waiters.get(id)?.()
      engine.notify(topic, { freed: id } satisfies LockMessage)
    },
    async woken({ id }) {
      const { promise, resolve } = Promise.withResolvers<undefined>()
      // The message may be lost, and a dead holder sends none.
      const timer = setTimeout(() => resolve(undefined), 20 + Math.random() * 80)
      waiters.set(id, () => resolve(undefined))
      await promise
      clearTimeout(timer)
      waiters.delete(id)
    },
    releaseStale,
  }
}

/** What a take resolves with: `isTaken` says whether the engine has the lock. */
interface Taken {
  readonly isTaken: boolean
  readonly isSameHolder: boolean
  readonly lostHolders: number
}

/** Makes the function that waits for the lock in the engine, for one caller per lock at a time. */
function createTake(
  engine: Engine,
  registry: Registry,
): (lock: EngineLock, token: string) => Promise<Taken> {
  const { servers } = engine
  const lostHolders = new Map<string, number>()
  /** While this server is without the engine, others may hold any lock: it is another holder then. */
  let outages = 0
  engine.onChange(() => void outages++)

  const remember = ({ id }: EngineLock, lost: number) => {
    lostHolders.delete(id)
    if (lost > 0) lostHolders.set(id, lost)
    const [oldest] = lostHolders.keys()
    if (lostHolders.size > mostRemembered && oldest !== undefined) lostHolders.delete(oldest)
  }
  const ask = async (lock: EngineLock, token: string, deadToken: string) => {
    const since = performance.now()
    for (let tries = 0; tries < 2 && !engine.isAway(); tries++) {
      const holder = `${servers.own} ${outages} ${engine.history()}`
      try {
        return await lock.take(token, holder, deadToken)
      } catch {
        // The engine may have done it, which is no harm: it gives a lock to the same token once.
        if (performance.now() - since > retryWithinMs) return undefined
      }
    }
    return undefined
  }
  const handleRefusal = (
    lock: EngineLock,
    { owner, token }: TakeAnswer & { isTaken: false },
    polls: number,
  ) => {
    if (owner === servers.own) registry.releaseStale(lock, token)
    else if (owner !== '' && polls % pollsPerQuestion === 0) {
      engine.notify(topic, { id: lock.id, owner, token } satisfies LockMessage)
    }
  }

  return async (lock, token) => {
    let deadToken = ''
    for (let polls = 1; ; polls++) {
      const answer = await ask(lock, token, deadToken)
      if (answer === undefined) {
        const lost = lostHolders.get(lock.id) ?? 0
        return { isTaken: false, isSameHolder: false, lostHolders: lost }
      }
      if (answer.isTaken) {
        remember(lock, answer.lostHolders)
        return answer
      }
      const isOwnerDead = answer.owner !== '' && servers.isDead(answer.owner)
      if (isOwnerDead && answer.token !== deadToken) {
        deadToken = answer.token
        continue
      }
      handleRefusal(lock, answer, polls)
      await registry.woken(lock)
    }
  }
}

/** How long the engine keeps what it knows of a lock, in milliseconds, unless a holder renews it. */
const lockTtlMs = 3_600_000

/** How long a holder that has lost a lock and never releases it counts, in milliseconds from the last loss. */
const lostTtlMs = 600_000

/** For how long the lock is kept free for the server that has waited for it, in milliseconds. It asks again sooner. */
const reservedMs = 300

/** The lock of one key, as the engine has it. */
interface EngineLock {
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

type TakeAnswer =
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
function lockById(engine: Engine, id: string): EngineLock {
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
