import { expect } from 'chai'
import { createQuotaKeeper, isFileServiceError, type Customer } from '@holdfast/core'
import { createMemoryBlobStore } from '@holdfast/core/memory'
import { openSharedQuotas } from '../src/index.ts'
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
})
