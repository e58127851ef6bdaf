// Runs on servers that have to be built or installed first.
import { describeWithS3Server, knownFailures, type S3ServerKind } from '@holdfast/s3-servers'
import { openServerKnown } from '../../../store-minio/test/open-server-known.ts'
import { describeServiceOnStore } from './describe-service.ts'

for (const kind of Object.keys(knownFailures) as S3ServerKind[]) {
  describeWithS3Server(kind, `createApp on ${kind}`, knownFailures[kind].blackBox, (server) => {
    describeServiceOnStore(kind, async () => {
      const { endpoint, accessKey, secretKey } = server()
      const bucket = await server().createBucket()
      const store = await openServerKnown({ endpoint, accessKey, secretKey, bucket })
      return {
        store,
        litter: () => server().unfinishedUploads(bucket),
        close: () => store.close(),
      }
    })
  })
}
