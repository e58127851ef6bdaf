import { openMinioBlobStore } from '@holdfast/store-minio'
import { describeWithMinio } from '@holdfast/testing/minio'
import { versions } from './areas/versions.ts'
import { startService } from './support/running-service.ts'

describeWithMinio('createApp', (minio) => {
  describe('the service on a bucket with versioning', () => {
    const openStore = async () => {
      const { endpoint, accessKey, secretKey } = minio()
      const bucket = await minio().createVersionedBucket()
      const store = await openMinioBlobStore({ endpoint, accessKey, secretKey, bucket })
      return {
        store,
        litter: () => minio().unfinishedUploads(bucket),
        close: () => store.close(),
      }
    }
    versions((options = {}) => startService(openStore, options))
  })
})
