import { describeQuotaKeeper } from '@holdfast/contract'
import { createQuotaKeeper, type BlobStore } from '@holdfast/core'
import { createMemoryBlobStore } from '@holdfast/core/memory'
import { startRedis } from '@holdfast/testing/redis'
import { expect } from 'chai'
import { openEngine, openSharedQuotas, type Engine } from '../src/index.ts'
import { createSharedUploadCounter } from '../src/quotas/quotas.ts'
import { openEngines } from './shared-engines.ts'

for (const servers of [1, 2, 3]) {
  describeQuotaKeeper(`what ${servers} server(s) share in Redis`, async () => {
    const redis = await startRedis()
    const store = createMemoryBlobStore()
    const engines = await Promise.all(
      // A busy machine must not look like an engine that is away.
      Array.from({ length: servers }, () => openEngine({ url: redis.url, timeoutMs: 20_000 })),
    )
    const quotas = engines.map((engine) => openSharedQuotas(engine, store))
    return {
      keepers: quotas.map((shared) => createQuotaKeeper(store, { shared })),
      store,
      async dispose() {
        for (const shared of quotas) await shared.close()
        for (const engine of engines) await engine.close()
        await redis.stop()
      },
    }
  })
}

describe('createSharedUploadCounter', () => {
  it('lists again where the engine may have lost data during a list', async () => {
    const all = await openEngines(1)
    try {
      let history = 'first'
      let lists = 0
      const memory = createMemoryBlobStore()
      if (memory.resumable === undefined) throw new TypeError('The store has no uploads in pieces')
      const store: BlobStore = {
        ...memory,
        resumable: {
          ...memory.resumable,
          async *list(customer) {
            lists++
            history = 'second'
            yield* memory.resumable?.list(customer) ?? []
          },
        },
      }
      const engine: Engine = { ...all.engine(0), history: () => history }
      const counter = createSharedUploadCounter(engine, store, () => performance.now())
      await counter.begin('alice', 10, async () => ({ id: 'upload' }))
      expect(lists).to.equal(2)
    } finally {
      await all.close()
    }
  })
})
