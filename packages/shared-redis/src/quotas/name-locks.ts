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

/** Makes {@link NameLocks}. */
export function createNameLocks(engine: Engine): NameLocks {
  const outbox = createOutbox(engine, { maxAgeMs: 1_000 * ttl })

  return async (customer, name, kept) => {
    const key = engine.key(`name:${keyDigest(name)}`, customer)
    const token = randomUUID()
    const { servers } = engine
    const unlock = () => void outbox.add(() => engine.run(unlockNameScript, [key], [token]))
    const take = async (dead: readonly string[]) => {
      const request = { server: servers.own, token, ...kept, dead, ttl }
      const keys = [engine.key('quota', customer), key]
      return String(await engine.run(lockNameScript, keys, [JSON.stringify(request)]))
    }
    try {
      let dead: readonly string[] = []
      while (true) {
        const holder = await take(dead)
        if (holder === '') return { isHeld: true, unlock }
        dead = servers.isDead(holder) ? [holder] : []
        if (dead.length === 0) await delay(5 + 20 * Math.random())
      }
    } catch (error) {
      if (!(error instanceof EngineAwayError)) throw error
      // It may have been locked although the answer was lost.
      return { isHeld: false, unlock }
    }
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
