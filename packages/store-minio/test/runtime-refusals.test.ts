import { CreateBucketCommand, DeleteBucketCommand } from '@aws-sdk/client-s3'
import { describeWithMinio } from '@holdfast/testing/minio'
import { bytesOf, contentOf, drain, key, MiB } from './faults/blobs.ts'
import { expectUnavailable, withFaultyStore } from './faults/faulty-store.ts'

describeWithMinio('openMinioBlobStore, whose bucket is deleted', (minio) => {
  it('says store-unavailable in every method, and never that a blob is missing', () =>
    withFaultyStore(minio(), {}, async ({ store, bucket }) => {
      await minio().client.send(new DeleteBucketCommand({ Bucket: bucket }))
      await expectUnavailable(store.stat(key), 'stat')
      await expectUnavailable(store.open(key), 'open')
      await expectUnavailable(store.open(key, { range: { suffixLength: 0 } }), 'open nothing')
      await expectUnavailable(store.delete(key), 'delete')
      await expectUnavailable(store.usage('alice'), 'usage')
      await expectUnavailable(drain(store.list('alice')), 'list')
      await expectUnavailable(drain(store.customers()), 'customers')
      for (const createOnly of [false, true]) {
        for (const size of [0, 1000, 9 * MiB]) {
          const putting = store.put(key, contentOf(bytesOf(size)), { createOnly })
          await expectUnavailable(putting, `put ${size}`)
        }
      }
    }))

  it('goes on when the bucket is back', () =>
    withFaultyStore(minio(), {}, async ({ store, bucket }) => {
      await minio().client.send(new DeleteBucketCommand({ Bucket: bucket }))
      await expectUnavailable(store.put(key, contentOf(bytesOf(10))), 'put')
      await minio().client.send(new CreateBucketCommand({ Bucket: bucket }))
      await store.put(key, contentOf(bytesOf(10)))
    }))
})
