import { openMinioBlobStore } from '@holdfast/store-minio'
import { describeWithMinio } from '@holdfast/testing/minio'
import { describeService } from './describe-service.ts'

describeWithMinio('createApp', (minio) => {
  describeService('the MinIO store', async () => {
    const { endpoint, accessKey, secretKey } = minio()
    const bucket = await minio().createBucket()
    const store = await openMinioBlobStore({ endpoint, accessKey, secretKey, bucket })
    return {
      store,
      litter: () => minio().unfinishedUploads(bucket),
      close: () => store.close(),
    }
  })
})
