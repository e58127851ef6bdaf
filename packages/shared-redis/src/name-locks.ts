import { createHash, randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { Amount } from '@holdfast/core'
import { EngineAwayError, type Engine } from './engine.ts'
import { lockNameScript, unlockNameScript } from './quota-scripts.ts'

/**
 * Locks the name of a stored file whose space is about to become free, for all servers. Resolves with the function that unlocks it.
 * While the engine is away, it locks nothing: the account is counted again afterwards.
 */
export type NameLocks = (customer: string, name: string, kept: Amount) => Promise<() => void>

/** How long a lock stays if its server never releases it and no one wants it, in seconds. */
const ttl = 24 * 3600

export function createNameLocks(engine: Engine): NameLocks {
  /** Locks whose release the engine has not confirmed, by token. */
  const unreleased = new Map<string, string>()

  const release = async (key: string, token: string) => {
    unreleased.set(token, key)
    try {
      await engine.run(unlockNameScript, [key], [token])
      unreleased.delete(token)
    } catch (error) {
      if (!(error instanceof EngineAwayError)) throw error
    }
  }
  engine.onChange((isAway) => {
    if (isAway) return
    for (const [token, key] of unreleased) void release(key, token)
  })

  return async (customer, name, kept) => {
    const hashed = createHash('sha256').update(name).digest('base64url')
    const key = engine.key(`name:${hashed}`, customer)
    const token = randomUUID()
    const { servers } = engine
    const take = async (dead: readonly string[]) => {
      const request = { server: servers.own, token, ...kept, dead, ttl }
      const keys = [engine.key('quota', customer), key]
      return String(await engine.run(lockNameScript, keys, [JSON.stringify(request)]))
    }
    try {
      let dead: readonly string[] = []
      while (true) {
        const holder = await take(dead)
        if (holder === '') return () => void release(key, token)
        dead = servers.isDead(holder) ? [holder] : []
        if (dead.length === 0) await delay(5 + 20 * Math.random())
      }
    } catch (error) {
      if (!(error instanceof EngineAwayError)) throw error
      // It may have been locked although the answer was lost.
      unreleased.set(token, key)
      return () => void release(key, token)
    }
  }
}
