import { describeUseCounter } from '@holdfast/contract'
import { createSharedUseCounter, type SharedUseCounter } from '../src/index.ts'
import { expect } from 'chai'
import { stepOfLimit } from '../src/counts/use-counters.ts'
import { losing, openEngines, until } from './shared-engines.ts'

const name = 'perCustomer'

/** Counters that repeat what they have reported each 200 ms. */
async function openCounters(servers: number, limit = 100) {
  const shared = await openEngines(servers)
  await until(() => shared.engines.every((engine) => engine.servers.count() === servers))
  const open = (n: number) =>
    createSharedUseCounter(shared.engine(n), { name, limit, repeatMs: 200 })
  const counters = shared.engines.map((_engine, n) => open(n))
  const counter = (n: number): SharedUseCounter => {
    const found = counters[n]
    if (found === undefined) throw new RangeError(`There is no counter ${n}`)
    return found
  }
  return {
    ...shared,
    counters,
    counter,
    close: async () => {
      for (const one of counters) one.close()
      await shared.close()
    },
  }
}

for (const servers of [2, 3]) {
  describeUseCounter(
    `the counter of ${servers} servers`,
    async () => {
      const { counters, counter, engine, settle, close } = await openCounters(servers)
      const last = servers - 1
      return {
        counters,
        // Less than an eighth of 100 is not reported.
        allowance: 12,
        settle,
        async endLast() {
          // The process ends without a word. Its engine still sends the markers of `settle`.
          losing(engine(last), 'uses:')
          const { own } = engine(last).servers
          engine(0).servers.isDead = (server) => server === own
          const uses = () => counter(0).keysOfOthers().length
          await until(() => uses() === 0)
        },
        dispose: close,
      }
    },
    { isShared: true },
  )
}

describe('stepOfLimit', () => {
  it('leaves less than an eighth of the limit unreported, whatever the number of servers, one more included', () => {
    for (let servers = 1; servers <= 100; servers++) {
      for (const limit of [1, 7, 8, 9, 100, 1_000, 10_000, 123_457]) {
        const before = servers * (stepOfLimit(limit, servers) - 1)
        const added = stepOfLimit(limit, servers + 1) - 1
        expect(before + added, `${servers} servers, limit ${limit}`).to.be.below(limit / 8)
      }
    }
  })
})

describe('createSharedUseCounter', () => {
  it('counts all servers within an eighth of the limit', async () => {
    const { counter, settle, close } = await openCounters(3, 240)
    try {
      for (let uses = 1; uses <= 80; uses++) {
        for (const n of [0, 1, 2]) counter(n).change('anna', 1)
        await settle()
        for (const n of [0, 1, 2]) {
          expect(counter(n).count('anna')).to.be.within(3 * uses - 29, 3 * uses)
        }
      }
    } finally {
      await close()
    }
  })

  it('sends many changes of one tick in one message', async () => {
    const { counter, engine, settle, close } = await openCounters(2, 1)
    let messages = 0
    engine(1).onMessage(`uses:${name}`, () => messages++)
    try {
      await settle()
      messages = 0
      for (let uses = 0; uses < 500; uses++) counter(0).change(`customer ${uses % 50}`, 1)
      await settle()
      // One of them may repeat.
      expect(messages).to.be.within(1, 2)
      expect(counter(1).keysOfOthers()).to.have.length(50)
      expect(counter(1).countOfOthers('customer 3')).to.equal(10)
    } finally {
      await close()
    }
  })

  it('heals what a lost message has left out', async () => {
    const { counter, engine, close } = await openCounters(2, 1)
    try {
      const find = losing(engine(0), 'uses:')
      counter(0).change('anna', 1)
      await new Promise((resolve) => setImmediate(resolve))
      find()
      await until(() => counter(1).count('anna') === 1)
      const findAgain = losing(engine(0), 'uses:')
      counter(0).change('anna', -1)
      await new Promise((resolve) => setImmediate(resolve))
      findAgain()
      await until(() => counter(1).count('anna') === 0)
    } finally {
      await close()
    }
  })

  it('forgets the uses of a server that is silent', async () => {
    const { counter, engine, settle, close } = await openCounters(2, 1)
    try {
      counter(0).change('anna', 1)
      await settle()
      expect(counter(1).count('anna')).to.equal(1)
      losing(engine(0), 'uses:')
      await until(() => counter(1).count('anna') === 0)
      expect(counter(0).count('anna')).to.equal(1)
    } finally {
      await close()
    }
  })

  it('gives a server that starts later what the others count', async () => {
    const { counter, open, close } = await openCounters(1, 1)
    try {
      counter(0).change('anna', 1)
      const later = createSharedUseCounter(await open(), { name, limit: 1, repeatMs: 60_000 })
      await until(() => later.count('anna') === 1)
      later.close()
    } finally {
      await close()
    }
  })

  it('reports at once that it closes', async () => {
    const shared = await openEngines(2)
    const options = { name, limit: 1, repeatMs: 60_000 }
    const [first, second] = shared.engines.map((engine) => createSharedUseCounter(engine, options))
    try {
      first?.change('anna', 1)
      await shared.settle()
      expect(second?.count('anna')).to.equal(1)
      first?.close()
      await shared.settle()
      expect(second?.count('anna')).to.equal(0)
    } finally {
      second?.close()
      await shared.close()
    }
  })

  it('takes the uses that a server counts otherwise, and says when those of others change', async () => {
    const { counter, settle, close } = await openCounters(2, 1)
    const changed: string[] = []
    counter(1).onOthers((key) => changed.push(key))
    try {
      counter(0).set('anna', 7)
      counter(1).set('anna', 2)
      await settle()
      expect([counter(1).count('anna'), counter(1).countOfOthers('anna')]).to.deep.equal([9, 7])
      counter(0).set('anna', 0)
      await settle()
      expect([counter(1).count('anna'), counter(1).countOfOthers('anna')]).to.deep.equal([2, 0])
      expect(changed).to.deep.equal(['anna', 'anna'])
    } finally {
      await close()
    }
  })

  it('counts for itself without the engine, and with the others again when that is back', async () => {
    const { counter, engine, redis, settle, close } = await openCounters(2, 1)
    try {
      counter(0).change('anna', 1)
      counter(1).change('anna', 1)
      await settle()
      await redis.kill()
      await until(() => [0, 1].every((n) => engine(n).isAway()))
      counter(0).change('anna', 1)
      expect(counter(0).count('anna')).to.be.within(2, 3)
      await until(() => counter(0).count('anna') === 2)
      await redis.startAgain()
      await until(() => [0, 1].every((n) => counter(n).count('anna') === 3))
    } finally {
      await close()
    }
  })
})
