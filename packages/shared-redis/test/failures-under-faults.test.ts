import { once } from 'node:events'
import { connect } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { createSharedFailureCounter } from '../src/index.ts'
import { expect } from 'chai'
import { openEngines, until, type KillableRedis } from './shared-engines.ts'

/** Cuts the connections of all clients. */
async function cutConnections({ url }: KillableRedis): Promise<void> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  socket.write('CLIENT KILL TYPE normal\r\n')
  await once(socket, 'data')
  socket.destroy()
}

const faults: readonly [string, (redis: KillableRedis) => Promise<void>][] = [
  ['cuts its connections', cutConnections],
  [
    'stops for a while',
    async (redis) => {
      process.kill(redis.pid(), 'SIGSTOP')
      await delay(600)
      process.kill(redis.pid(), 'SIGCONT')
    },
  ],
]

describe('createSharedFailureCounter under faults', () => {
  for (const [fault, cause] of faults) {
    it(`counts each failure once while the engine ${fault}`, async () => {
      const { engines, redis, close } = await openEngines(3, { timeoutMs: 250 })
      let isOver = false
      let added = 0
      try {
        const counters = engines.map((engine) =>
          createSharedFailureCounter(engine, { windowMs: 3_600_000, keyOf: (key) => key }),
        )
        const works = counters.map(async ({ exact }) => {
          while (!isOver) {
            added++
            await exact.add('anna')
            await delay(Math.random() * 2)
          }
        })
        for (let round = 0; round < 3; round++) {
          await delay(200)
          await cause(redis)
          await until(() => engines.every((engine) => !engine.isAway()))
        }
        isOver = true
        await Promise.all(works)
        const counts = async () =>
          Promise.all(counters.map(async ({ exact }) => (await exact.read('anna')).failures))
        await until(async () => (await counts()).every((count) => count >= added))
        // Longer than after which unconfirmed failures are sent again.
        await delay(1_200)
        expect(await counts()).to.deep.equal([added, added, added])
      } finally {
        await close()
      }
    })
  }
})
