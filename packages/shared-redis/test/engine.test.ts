import { expect } from 'chai'
import { openEngine } from '../src/index.ts'
import { startRedis } from '@holdfast/testing/redis'

describe('openEngine', () => {
  it('shows each server the others', async () => {
    const redis = await startRedis()
    const engines = await Promise.all(
      [1, 2].map(() => openEngine({ url: redis.url, leaseMs: 3_000 })),
    )
    try {
      const [first, second] = engines
      expect(first?.servers.own).to.not.equal(second?.servers.own)
      expect(Math.max(...engines.map(({ servers }) => servers.count()))).to.equal(2)
    } finally {
      for (const engine of engines) await engine.close()
      await redis.stop()
    }
  })
})
