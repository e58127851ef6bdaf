import { describeWithMinio } from '@holdfast/testing/minio'
import { expect } from 'chai'
import { openMinioBlobStore } from '../../src/minio-blob-store.ts'
import { startAlteringProxy } from '../inspect/start-altering-proxy.ts'
import { append, begin, cuts, expectPublished, uploadsOf, whole } from './pieces.ts'

/** More than an upload has: a test fails that never gets to the end. */
const mostWrites = 60

describeWithMinio('openMinioBlobStore, killed during an upload in pieces', (minio) => {
  /** Uploads until the process may make no more than `writes` requests that change something. */
  async function uploadUntil(bucket: string, writes: number) {
    let left = Infinity
    await using proxy = await startAlteringProxy(minio().endpoint, {
      answer: ({ method }, response) => {
        if (method === 'GET' || method === 'HEAD' || left-- > 0) return false
        response.destroy()
        return true
      },
    })
    const { accessKey, secretKey } = minio()
    const connection = { endpoint: proxy.endpoint, bucket, accessKey, secretKey }
    const store = await openMinioBlobStore(connection)
    const acknowledged = { upload: await begin(store), offset: 0, isPublished: false }
    left = writes
    try {
      for (const [from, to] of cuts) {
        acknowledged.offset = await append(store, acknowledged.upload, from, to)
      }
      await uploadsOf(store).publish(acknowledged.upload)
      acknowledged.isPublished = true
    } catch (error) {
      expect(error).to.have.property('code', 'store-unavailable')
    } finally {
      await store.close()
    }
    return { ...acknowledged, isOver: left > 0 }
  }

  it('goes on from no earlier offset, at whatever request that was, and leaves nothing', async function () {
    this.timeout(240_000)
    let isOver = false
    for (let writes = 0; !isOver; writes++) {
      expect(writes).to.be.below(mostWrites)
      const bucket = await minio().createBucket()
      const before = await uploadUntil(bucket, writes)
      const { endpoint, accessKey, secretKey } = minio()
      const store = await openMinioBlobStore({ endpoint, bucket, accessKey, secretKey })
      try {
        const uploads = uploadsOf(store)
        const state = await uploads.state(before.upload)
        const offset = state?.offset ?? 0
        expect(offset, `after ${writes} writes`).to.be.at.least(before.offset)
        if (before.isPublished) expect(state?.published?.size).to.equal(whole.length)
        if (offset < whole.length) await append(store, before.upload, offset, whole.length)
        const info = await uploads.publish(before.upload)
        expect(await uploads.publish(before.upload)).to.deep.equal(info)
        await expectPublished(store, minio(), bucket)
      } finally {
        await store.close()
      }
      isOver = before.isOver
    }
  })
})
