import { expect } from 'chai'
import { createQuotaKeeper, isFileServiceError, type Customer } from '@holdfast/core'
import { createMemoryBlobStore } from '@holdfast/core/memory'
import { openSharedQuotas, type Engine } from '../src/index.ts'
import { openEngines, type SharedEngines } from './shared-engines.ts'

describe('openSharedQuotas near the end of a quota', () => {
  const ends: (() => Promise<unknown>)[] = []
  let all: SharedEngines
  beforeEach(async () => {
    all = await openEngines(6)
    ends.push(() => all.close())
  })
  afterEach(async () => {
    for (const end of ends.splice(0).toReversed()) await end()
  })

  it('gives the room to the upload that fits while others want more than there is', async () => {
    const store = createMemoryBlobStore()
    const keepers = all.engines.map((engine) => {
      const shared = openSharedQuotas(engine, store)
      ends.push(() => shared.close())
      return createQuotaKeeper(store, { shared })
    })
    const accepted: (number | undefined)[] = []
    for (let round = 0; round < 10; round++) {
      const customer: Customer = { name: `alice-${round}`, quota: 10_000 }
      for (const keeper of keepers) (await keeper.claim(customer, 'first', 0)).end()
      // All but one want more than the quota.
      const claims = keepers.map(async (keeper, nth) => {
        const size = nth === round % keepers.length ? 9_900 : 10_001 + nth
        const claim = await keeper.claim(customer, `${nth}`, size).catch((error: unknown) => {
          if (isFileServiceError(error, 'quota-exceeded')) return undefined
          throw error
        })
        return claim && nth
      })
      const outcomes = await Promise.all(claims)
      accepted.push(outcomes.find((nth) => nth !== undefined))
    }
    expect(accepted).to.deep.equal(Array.from({ length: 10 }, (_, round) => round % 6))
  })

  it('lets an upload publish that waits while another one uses the room that there was', async () => {
    const store = createMemoryBlobStore()
    let answered: Promise<unknown> = Promise.resolve()
    const open = (engine: Engine) => {
      const shared = openSharedQuotas(engine, store)
      ends.push(() => shared.close())
      return createQuotaKeeper(store, { shared })
    }
    const keeper = open({
      ...all.engine(0),
      async run(...question) {
        const answer = await all.engine(0).run(...question)
        await answered
        return answer
      },
    })
    const customer: Customer = { name: 'alice', quota: 100_000 }
    const large = await keeper.claim(customer, 'large', 50_000)
    await large.grow(50_000)
    // Within what a server has in advance.
    const small = await keeper.claim(customer, 'small', 700)
    await small.grow(700)
    // Takes the rest, so that nothing more is given in advance.
    const rest = await open(all.engine(1)).claim(customer, 'rest', 49_200)

    const { promise, resolve } = Promise.withResolvers<undefined>()
    answered = promise
    const waiting = large.prepare()
    // Its report is on the way.
    await new Promise((resolve) => setImmediate(resolve))
    await small.prepare()
    resolve(undefined)
    await waiting
    for (const claim of [large, small, rest]) claim.end()
  })
})
