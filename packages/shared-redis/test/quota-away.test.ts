import { expect } from 'chai'
import { createFileService, createQuotaKeeper, isFileServiceError } from '@holdfast/core'
import { createMemoryBlobStore } from '@holdfast/core/memory'
import { openEngine, openSharedQuotas } from '../src/index.ts'
import { until } from '@holdfast/testing'
import { startRedis } from '@holdfast/testing/redis'

const alice = { name: 'alice', quota: 100 }

describe('openSharedQuotas without its engine', () => {
  it('lets each of two servers use a half of what was free, and what it frees itself', async () => {
    const redis = await startRedis()
    const store = createMemoryBlobStore()
    const engines = [await openEngine({ url: redis.url }), await openEngine({ url: redis.url })]
    await until('the servers know each other', () =>
      engines.every(({ servers }) => servers.count() === 2),
    )
    const quotas = engines.map((engine) => openSharedQuotas(engine, store))
    const [first, second] = quotas.map((shared) =>
      createFileService({ store, quotas: createQuotaKeeper(store, { shared }) }).filesOf(alice),
    )
    const put = async (files: typeof first, name: string, size: number) => {
      try {
        await files?.upload(name, 'x'.repeat(size))
        return true
      } catch (error) {
        if (isFileServiceError(error, 'quota-exceeded')) return false
        // After the engine came back, until the store was counted again.
        if (isFileServiceError(error, 'overloaded')) return false
        throw error
      }
    }
    try {
      expect(await put(first, 'a', 60)).to.equal(true)
      expect(await put(second, 'b', 1)).to.equal(true)
      await redis.kill()
      await until('the engine is away', () => engines.every((engine) => engine.isAway()))
      expect(await put(first, 'c', 25)).to.equal(false)
      expect(await put(first, 'c', 19)).to.equal(true)
      expect(await put(second, 'd', 19)).to.equal(true)
      expect(await put(first, 'e', 10)).to.equal(false)
      await first?.delete('a')
      expect(await put(first, 'e', 60)).to.equal(true)
      expect(await put(first, 'f', 10)).to.equal(false)
      await redis.restart()
      await until('the engine is back', () => engines.every((engine) => !engine.isAway()))
      expect(await put(second, 'g', 2)).to.equal(false)
      // What was stored without the engine counts twice until the next count.
      await until('the last byte can be used', () => put(second, 'g', 1))
      expect(await put(first, 'h', 1)).to.equal(false)
    } finally {
      for (const shared of quotas) await shared.close()
      for (const engine of engines) await engine.close()
      await redis.stop()
    }
  })
})
