import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { Amount } from '@holdfast/core'
import { EngineAwayError, type Engine } from '../engine/engine.ts'
import { keyDigest } from '../engine/keys-and-scripts.ts'
import { createOutbox } from '../engine/outbox.ts'
import { lockNameScript, unlockNameScript } from './quota-scripts.ts'

/** The lock of a name. */
export interface NameLock {
  /** `false` if the engine is away: other servers may change the file, too. */
  readonly isHeld: boolean
  readonly unlock: () => void
}

/** Locks the name of a stored file whose space is about to become free, for all servers. `kept` is the file. */
export type NameLocks = (customer: string, name: string, kept: Amount) => Promise<NameLock>

/** How long a lock stays if its server never releases it and no one wants it, in seconds. */
const ttl = 24 * 3600

/** After how many polls a waiting server asks the holder whether it holds the lock indeed. */
const pollsPerQuestion = 10

const topic = 'name-locks'

/** The sender waits for the lock `key`, which `token` holds as the engine knows. */
interface HolderQuestion {
  readonly key: string
  readonly token: string
}

/** Makes {@link NameLocks}. */
export function createNameLocks(engine: Engine): NameLocks {
  const { servers } = engine
  const outbox = createOutbox(engine, { maxAgeMs: 1_000 * ttl })
  const tokens = createTokens()

  const unlockInEngine = (key: string, token: string) =>
    engine.run(unlockNameScript, [key], [token])

  /** The outbox may have discarded the unlocking, or a request to lock came to the engine too late. */
  const unlockStale = ({ key, token }: HolderQuestion) => {
    if (!tokens.isStale(token)) return
    // If this fails, a server that waits finds the token again.
    unlockInEngine(key, token).catch(() => {})
  }
  engine.onMessage(topic, (message) => unlockStale(message as HolderQuestion))

  /** Repeats `take` until the lock is ours, however long others hold it. */
  const waitForLock = async (key: string, take: TakeName) => {
    let dead: readonly string[] = []
    for (let polls = 1; ; polls++) {
      const holder = await take(dead)
      if (holder === undefined) return
      dead = servers.isDead(holder.server) ? [holder.server] : []
      if (dead.length > 0) continue
      const question = { key, token: holder.token } satisfies HolderQuestion
      unlockStale(question)
      if (polls % pollsPerQuestion === 0) engine.notify(topic, question)
      await delay(5 + 20 * Math.random())
    }
  }

  return async (customer, name, kept) => {
    const key = engine.key(`name:${keyDigest(name)}`, customer)
    const token = tokens.create()
    let mayBeHeld = false
    const unlock = () => {
      tokens.end(token)
      // Nothing is queued for each file during an outage: it would displace what the engine must unlock indeed.
      if (mayBeHeld) void outbox.add(() => unlockInEngine(key, token))
    }
    const take: TakeName = async (dead) => {
      const request = { server: servers.own, token, ...kept, dead, ttl }
      const keys = [engine.key('quota', customer), key]
      // While the engine is away, nothing is sent.
      mayBeHeld = !engine.isAway()
      return readHolder(await engine.run(lockNameScript, keys, [JSON.stringify(request)]))
    }
    try {
      await waitForLock(key, take)
      return { isHeld: true, unlock }
    } catch (error) {
      if (error instanceof EngineAwayError) return { isHeld: false, unlock }
      tokens.end(token)
      throw error
    }
  }
}

/** Who holds the lock of a name. */
interface NameHolder {
  readonly server: string
  readonly token: string
}

/** Asks for a lock once; resolves with its holder, or with `undefined` if it is ours now. `dead` are servers that lose it. */
type TakeName = (dead: readonly string[]) => Promise<NameHolder | undefined>

function readHolder(reply: unknown): NameHolder | undefined {
  if (!Array.isArray(reply)) return undefined
  const [server, token] = reply.map(String)
  return { server: server ?? '', token: token ?? '' }
}

/** Makes the tokens by which this server locks names, and recognises those that it no longer uses. */
function createTokens() {
  const prefix = `${randomUUID()}:`
  const inUse = new Set<string>()
  let last = 0
  return {
    create() {
      const token = `${prefix}${++last}`
      inUse.add(token)
      return token
    },
    end: (token: string) => void inUse.delete(token),
    isStale: (token: string) => token.startsWith(prefix) && !inUse.has(token),
  }
}

/** The files of a customer whose names this server has locked, since their space is about to become free. */
export interface LockedFiles {
  /** Locks a name; resolves with the function that unlocks it. `present` is the count of the account that is known now. */
  lock(name: string, kept: Amount, present: string): Promise<() => void>
  /**
   * The count that was known when the files were looked up that are locked now. Empty if it is uncertain that they are the same still: a
   * name could not be locked while the engine was away.
   */
  present(): string
}

/** Makes a {@link LockedFiles} of `customer`. */
export function createLockedFiles(customer: string, nameLocks: NameLocks): LockedFiles {
  const locked = new Set<{ present: string }>()
  return {
    async lock(name, kept, present) {
      const file = { present }
      locked.add(file)
      try {
        const lock = await nameLocks(customer, name, kept)
        if (!lock.isHeld) file.present = ''
        return () => {
          locked.delete(file)
          lock.unlock()
        }
      } catch (error) {
        locked.delete(file)
        throw error
      }
    },
    present() {
      const [first] = locked
      const isCertain = [...locked].every(({ present }) => present !== '')
      return isCertain ? (first?.present ?? '') : ''
    },
  }
}
