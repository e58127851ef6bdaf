// Runs on a server that has to be built first.
import { openMinioBlobStore } from '@holdfast/store-minio'
import { describeWithS3Server } from '@holdfast/testing/s3-servers'
import { describeServiceOnStore } from './describe-service.ts'

describeWithS3Server('versitygw', 'createApp on versitygw', (server) => {
  describeServiceOnStore('versitygw', async () => {
    const { endpoint, accessKey, secretKey } = server()
    const bucket = await server().createBucket()
    const store = await openMinioBlobStore({ endpoint, accessKey, secretKey, bucket })
    return {
      store,
      litter: () => server().unfinishedUploads(bucket),
      close: () => store.close(),
    }
  })
})
