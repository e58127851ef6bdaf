import { runReadme } from '@holdfast/testing'
import { startRedis } from '@holdfast/testing/redis'
import { expect } from 'chai'

describe('The README of @holdfast/shared-redis', () => {
  it('shows an example that runs', async () => {
    const redis = await startRedis({ password: 'secret' })
    try {
      const replaced = { "'redis://127.0.0.1:6379'": JSON.stringify(redis.url) }
      const env = { HOLDFAST_SHARED_PASSWORD: 'secret' }
      expect(await runReadme(import.meta.dirname, { replaced, env })).to.equal('1 of 1\n')
    } finally {
      await redis.stop()
    }
  })
})
