import { CreateMultipartUploadCommand, UploadPartCommand } from '@aws-sdk/client-s3'
import { describeWithMinio, type RunningMinio } from '@holdfast/testing/minio'
import { expect } from 'chai'
import { openMinioBlobStore } from '../../src/minio-blob-store.ts'
import { createObjectKeys } from '../../src/keys/object-keys.ts'
import { abortStaleUploads } from '../../src/write/stale-uploads.ts'

const hour = 60 * 60 * 1000

async function begin({ client }: RunningMinio, bucket: string, key: string): Promise<string> {
  const command = new CreateMultipartUploadCommand({ Bucket: bucket, Key: key })
  return (await client.send(command)).UploadId ?? ''
}

describeWithMinio('abortStaleUploads', (minio) => {
  async function prepare(prefix = '') {
    const bucket = await minio().createBucket()
    const underWay = new Set<string>()
    const keys = createObjectKeys(prefix)
    return {
      bucket,
      underWay,
      begin: (key: string) => begin(minio(), bucket, key),
      left: () => minio().unfinishedUploads(bucket),
      sweep: (staleAfterMs: number) =>
        abortStaleUploads({ s3: minio().client, bucket, keys, underWay, staleAfterMs }),
    }
  }

  it('aborts what is stale and says how many there were', async () => {
    const { begin, left, sweep } = await prepare()
    await begin('alice/a b+c')
    await begin('alice/\u0001/--\\x')
    expect(await sweep(-1)).to.equal(2)
    expect(await left()).to.deep.equal([])
    expect(await sweep(-1)).to.equal(0)
  })

  it('spares what is young', async () => {
    const { begin, left, sweep } = await prepare()
    await begin('alice/a')
    expect(await sweep(hour)).to.equal(0)
    expect(await left()).to.deep.equal(['alice/a'])
  })

  it('spares what this process is uploading', async () => {
    const { begin, underWay, left, sweep } = await prepare()
    underWay.add(await begin('alice/mine'))
    await begin('alice/other')
    expect(await sweep(-1)).to.equal(1)
    expect(await left()).to.deep.equal(['alice/mine'])
  })

  it('spares an old upload into which a part has come lately', async () => {
    const { bucket, begin, left, sweep } = await prepare()
    const id = await begin('alice/slow')
    await begin('alice/dead')
    const startedAt = Date.now()
    // Until both are older than the part, and than the limit of the sweep, in the server's whole seconds.
    await new Promise((resolve) => setTimeout(resolve, 3_000))
    const part = { Bucket: bucket, Key: 'alice/slow', UploadId: id, PartNumber: 1, Body: 'x' }
    await minio().client.send(new UploadPartCommand(part))
    expect(await sweep(Date.now() - startedAt - 1_000)).to.equal(1)
    expect(await left()).to.deep.equal(['alice/slow'])
  })

  it('spares what has a key that is none of ours', async () => {
    const { begin, left, sweep } = await prepare('ours/')
    for (const key of [
      'ours/alice/a',
      'alice/a',
      'theirs/alice/a',
      'ours/alice/a/b',
      'ours/alice',
    ]) {
      await begin(key)
    }
    expect(await sweep(-1)).to.equal(1)
    expect((await left()).sort()).to.deep.equal([
      'alice/a',
      'ours/alice',
      'ours/alice/a/b',
      'theirs/alice/a',
    ])
  })
})

describeWithMinio('openMinioBlobStore, after a crash', (minio) => {
  it('removes what is stale and says so, and spares an upload of another server', async () => {
    const bucket = await minio().createBucket()
    await begin(minio(), bucket, 'alice/dead')
    const { endpoint, accessKey, secretKey } = minio()
    const connection = { endpoint, accessKey, secretKey, bucket }
    const said: string[] = []
    const log = { warn: (message: string) => void said.push(message) }
    const patient = await openMinioBlobStore({ ...connection, log })
    const ruthless = await openMinioBlobStore({ ...connection, log, staleUploadAfterMs: 0 })
    while (said.length === 0) await new Promise((resolve) => setTimeout(resolve, 10))
    expect(said).to.deep.equal(['Removed 1 unfinished upload(s) that a crash left behind'])
    expect(await minio().unfinishedUploads(bucket)).to.deep.equal([])
    await patient.close()
    await ruthless.close()
  })
})
