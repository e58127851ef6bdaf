import { setTimeout as delay } from 'node:timers/promises'
import { createSharedLocks, type Engine } from '../src/index.ts'
import { expect } from 'chai'
import { openEngines, until, type KillableRedis } from './shared-engines.ts'

const keys = ['alice', 'bob', 'carol']

const faults: readonly [string, (redis: KillableRedis) => Promise<void>][] = [
  [
    'stops for a while',
    async (redis) => {
      process.kill(redis.pid(), 'SIGSTOP')
      await delay(500)
      process.kill(redis.pid(), 'SIGCONT')
    },
  ],
  [
    'is killed and started again',
    async (redis) => {
      await redis.kill()
      await delay(200)
      await redis.startAgain()
    },
  ],
]

/** How many locks the engine has. */
async function heldLocks(engine: Engine): Promise<number> {
  const source = `return #redis.call('KEYS', '*:lock')`
  return (await engine.run({ source, sha1: '0'.repeat(40) }, [])) as number
}

describe('createSharedLocks under faults', () => {
  for (const [fault, cause] of faults) {
    it(`gives each server's callers the lock one after another, and leaves none behind, while the engine ${fault}`, async () => {
      const { engines, redis, close } = await openEngines(3, { timeoutMs: 250 })
      let isOver = false
      let takes = 0
      /** Takes locks until the test is over, and checks that no other caller of the server has them. */
      const work = async (take: ReturnType<typeof createSharedLocks>, holders: Set<string>) => {
        while (!isOver) {
          const key = keys[takes++ % keys.length] ?? ''
          const { release } = await take(key)
          expect(holders.has(key)).to.equal(false)
          holders.add(key)
          await delay(Math.random() * 10)
          holders.delete(key)
          release()
        }
      }
      try {
        const all = engines.map((engine) => createSharedLocks(engine))
        const works = all.flatMap((take) => {
          const holders = new Set<string>()
          return Array.from({ length: 4 }, () => work(take, holders))
        })
        for (let round = 0; round < 3; round++) {
          await delay(200)
          await cause(redis)
          await until(() => engines.every((engine) => !engine.isAway()))
        }
        isOver = true
        await Promise.all(works)
        for (const engine of engines) await until(async () => (await heldLocks(engine)) === 0)
        for (const take of all) (await take('alice')).release()
      } finally {
        await close()
      }
    })
  }
})
