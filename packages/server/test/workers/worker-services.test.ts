import { describeUseCounter } from '@holdfast/contract'
import { expect } from 'chai'
import { resolveConfig } from '../../src/config/resolve-config.ts'
import { openPrimary } from './share-primary-services.ts'

const settle = () => new Promise((resolve) => setImmediate(resolve))

describe('createWorkerServices', () => {
  it('sends workers that start later what the others count', async () => {
    const start = openPrimary()
    start(0).links?.growingUploads?.change('anna/1', 1)
    await settle()
    const later = start(1)
    await settle()
    expect(later.links?.growingUploads?.count('anna/1')).to.equal(1)
  })

  it('has the requests of each kind known to all workers, and takes none for another kind', async () => {
    const start = openPrimary()
    const { requestCounters: own } = start(0)
    const { requestCounters: other } = start(1)
    const keyed = ['perCustomer', 'byLinksPerCustomer', 'byLinksPerNetwork'] as const
    const counted = () => [
      ...(['all', 'byLinks'] as const).map((kind) => other[kind].count()),
      ...keyed.map((kind) => other[kind].count('anna')),
    ]
    // Few requests are not reported; so many are, of each kind.
    const many = 1_000
    const counts = Array.from({ length: many }, (_, n) => n)
    for (const _ of counts) own.all.change(1)
    await settle()
    expect(counted().map((count) => count > 0)).to.deep.equal([true, false, false, false, false])
    for (const _ of counts) own.byLinks.change(1)
    await settle()
    expect(counted().map((count) => count > 0)).to.deep.equal([true, true, false, false, false])
    for (const [index, kind] of keyed.entries()) {
      for (const _ of counts) own[kind].change('anna', 1)
      await settle()
      const expected = [true, true, ...keyed.map((_, other) => other <= index)]
      expect(counted().map((count) => count > 0)).to.deep.equal(expected)
    }
  })
})

describeUseCounter(
  'the counter of two workers',
  async () => {
    const start = openPrimary()
    const workers = [start(0), start(1)]
    return {
      counters: workers.map((services) => services.requestCounters.perCustomer),
      // The default limit is 100 requests of a customer; less than an eighth of them are not reported.
      allowance: Math.ceil(resolveConfig()['max-requests-per-customer'] / 8) - 1,
      settle: async () => void (await settle()),
      endLast: async () => workers[1]?.die(),
      dispose: async () => {},
    }
  },
  { isShared: true },
)
