import {
  ListObjectsV2Command,
  ListObjectVersionsCommand,
  PutBucketVersioningCommand,
} from '@aws-sdk/client-s3'
import { describeWithMinio } from '@holdfast/testing/minio'
import { expect } from 'chai'
import { StoreSettingError } from '../../src/http/s3-errors.ts'
import { inspectBucket } from '../../src/inspect/inspect-bucket.ts'
import { openMinioBlobStore } from '../../src/minio-blob-store.ts'
import { startAlteringProxy, type Alterations } from '../inspect/start-altering-proxy.ts'

const decode = (key: string) => decodeURIComponent(key.replaceAll('+', ' '))

/** What servers make of their keys, although they say that they encode them. */
const wrong: Readonly<Record<string, (key: string) => string>> = {
  'are not encoded': decode,
  'have a plus for a plus': (key) => encodeURIComponent(decode(key)).replaceAll('%2B', '+'),
  'are encoded twice': encodeURIComponent,
}

const misnamed =
  'the server lists files whose names contain a percent sign, a plus or a space under other names'

describeWithMinio('openMinioBlobStore on a server', (minio) => {
  let bucket: string
  beforeEach(async () => {
    bucket = await minio().createBucket()
  })

  const through = (alterations: Alterations) =>
    startAlteringProxy(minio().endpoint, alterations).then((proxy) => {
      const { accessKey, secretKey } = minio()
      return { proxy, connection: { endpoint: proxy.endpoint, bucket, accessKey, secretKey } }
    })
  const keys = async () => {
    const { Contents = [] } = await minio().client.send(
      new ListObjectsV2Command({ Bucket: bucket }),
    )
    return Contents.map(({ Key }) => Key)
  }

  for (const [what, listedKey] of Object.entries(wrong)) {
    it(`whose keys in lists ${what} refuses it, and leaves nothing`, async () => {
      const { proxy, connection } = await through({ listedKey })
      await using _ = proxy
      const failure = await openMinioBlobStore(connection).catch((error: unknown) => error)
      expect(failure).to.be.instanceOf(StoreSettingError).and.have.property('setting', 'endpoint')
      expect(String(failure)).to.include(`${misnamed}; use another S3 server`)
      expect(await keys()).to.deep.equal([])
      for await (const { check, mark, message } of inspectBucket(connection)) {
        if (check === 'names') expect([mark, message]).to.deep.equal(['problem', misnamed])
      }
      expect(await keys()).to.deep.equal([])
    })
  }

  it('that encodes a space as URLs do takes it', async () => {
    const listedKey = (key: string) => encodeURIComponent(decode(key))
    const { proxy, connection } = await through({ listedKey })
    await using _ = proxy
    const store = await openMinioBlobStore(connection)
    await store.close()
    expect(await keys()).to.deep.equal([])
  })

  for (const method of ['PUT', 'DELETE']) {
    it(`that refuses a ${method} of the trial takes it all the same`, async () => {
      const { proxy, connection } = await through({
        answer(incoming, response) {
          const isTrial = incoming.method === method && incoming.url?.includes('%2541') === true
          if (isTrial) response.writeHead(403).end('<Error><Code>AccessDenied</Code></Error>')
          return isTrial
        },
      })
      await using _ = proxy
      const store = await openMinioBlobStore(connection)
      await store.close()
    })
  }

  it('leaves no version where the bucket keeps them', async () => {
    const VersioningConfiguration = { Status: 'Enabled' } as const
    const { client, endpoint, accessKey, secretKey } = minio()
    await client.send(new PutBucketVersioningCommand({ Bucket: bucket, VersioningConfiguration }))
    const store = await openMinioBlobStore({ endpoint, bucket, accessKey, secretKey })
    await store.close()
    const left = await client.send(new ListObjectVersionsCommand({ Bucket: bucket }))
    expect([...(left.Versions ?? []), ...(left.DeleteMarkers ?? [])]).to.deep.equal([])
  })
})
