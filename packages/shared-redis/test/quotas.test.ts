import { describeQuotaKeeper } from '@holdfast/contract'
import { createQuotaKeeper } from '@holdfast/core'
import { createMemoryBlobStore } from '@holdfast/core/memory'
import { openEngine, openSharedQuotas } from '../src/index.ts'
import { startRedis } from '@holdfast/testing/redis'

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
