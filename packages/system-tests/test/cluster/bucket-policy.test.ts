import { inspect } from 'node:util'
import {
  CreateMultipartUploadCommand,
  GetBucketLifecycleConfigurationCommand,
  PutBucketLifecycleConfigurationCommand,
  UploadPartCommand,
  type BucketLifecycleConfiguration,
} from '@aws-sdk/client-s3'
import { createFileService, type BlobStore } from '@holdfast/core'
import {
  describeWithMinio,
  type RunningMinio,
  policyOf,
  withoutRight,
  type Policy,
  temporaryKeys,
} from '@holdfast/testing/minio'
import { openMinioBlobStore } from '@holdfast/store-minio'
import { until, deployedFile } from '@holdfast/testing'
import { expect } from 'chai'
import { contentOf, digestOf } from './support/content.ts'
import { unfinishedUploads } from './support/unfinished-uploads.ts'

const MiB = 1024 ** 2

const actions = policyOf('files').Statement.flatMap(({ Action }) => Action)

describeWithMinio('docs/deploy/bucket-policy.json', (minio) => {
  let bucket: string

  beforeEach(async () => {
    bucket = await minio().createBucket()
  })

  it('is enough for all that holdfast does', async () => {
    await doEverything(minio(), bucket, policyOf(bucket))
  })

  it('has seven rights', () => expect(actions).to.have.length(7))

  for (const action of actions) {
    it(`needs ${action}`, async () => {
      const failure = await doEverything(
        minio(),
        bucket,
        withoutRight(policyOf(bucket), action),
      ).then(
        () => undefined,
        (error: unknown) => error,
      )
      expect(inspect(failure, { depth: 5 })).to.match(/Access ?Denied|httpStatusCode: 403/)
    })
  }
})

describeWithMinio('docs/deploy/bucket-lifecycle.json', (minio) => {
  it('is taken by MinIO, which leaves out the rule for unfinished uploads', async () => {
    const bucket = await minio().createBucket()
    const rules = JSON.parse(
      deployedFile('bucket-lifecycle.json', {}),
    ) as BucketLifecycleConfiguration
    const { client } = minio()
    await client.send(
      new PutBucketLifecycleConfigurationCommand({ Bucket: bucket, LifecycleConfiguration: rules }),
    )
    const kept = await client.send(new GetBucketLifecycleConfigurationCommand({ Bucket: bucket }))
    const { AbortIncompleteMultipartUpload: unfinished, ...rule } = rules.Rules?.[0] ?? {
      Status: 'Enabled',
    }
    expect(unfinished).to.deep.equal({ DaysAfterInitiation: 2 })
    expect(kept.Rules).to.deep.equal([rule])
  })
})

/** One round of every method, by somebody with the rights of `policy` and no others. */
async function doEverything(minio: RunningMinio, bucket: string, policy: Policy): Promise<void> {
  const warnings: string[] = []
  const left = await leaveUpload(minio, bucket)
  const store = await openMinioBlobStore({
    ...(await temporaryKeys(minio, policy)),
    endpoint: minio.endpoint,
    bucket,
    staleUploadAfterMs: 0,
    log: { warn: (message) => warnings.push(message) },
  })
  try {
    await until('the sweep has been', () => warnings.length > 0)
    expect(warnings).to.deep.equal(['Removed 1 unfinished upload(s) that a crash left behind'])
    expect(await unfinishedUploads(minio, bucket, left)).to.deep.equal([])
    const files = createFileService({ store }).filesOf({ name: 'demo' })
    for (const [name, size] of Object.entries({ small: 10, large: 9 * MiB })) {
      const content = contentOf(name, size)
      await files.upload(name, new Blob([content]).stream(), { createOnly: true })
      const { content: served } = await files.serve(name)
      expect(digestOf(Buffer.concat(await all(served)))).to.equal(digestOf(content))
    }
    expect((await all(files.list())).flat()).to.have.members(['small', 'large'])
    const broken = files.upload('broken', breakingOff())
    expect(await broken.catch((error: unknown) => error)).to.be.an('error')
    expect(await unfinishedUploads(minio, bucket, 'demo/broken')).to.deep.equal([])
    expect(await store.stat({ customer: 'demo', name: 'none' })).to.equal(undefined)
    await uploadInPieces(store)
    await files.delete('small')
    await files.delete('large')
  } finally {
    await store.close()
  }
}

async function uploadInPieces({ resumable }: BlobStore): Promise<void> {
  if (!resumable) throw new Error('The store keeps no uploads in pieces')
  const plan = { name: 'pieces', expiresAfterMs: 60_000 }
  const upload = { customer: 'demo', id: (await resumable.begin('demo', plan)).id }
  const first = await resumable.append(upload, 0, new Blob([contentOf('pieces', 6 * MiB)]).stream())
  await resumable.append(upload, first, new Blob(['end']).stream())
  expect((await resumable.publish(upload)).size).to.equal(6 * MiB + 3)
  await resumable.sweep(new Date(Date.now() + 120_000))
}

/** An upload as a crash leaves it, with a part. */
async function leaveUpload({ client }: RunningMinio, bucket: string): Promise<string> {
  const place = { Bucket: bucket, Key: 'demo/left' }
  const { UploadId } = await client.send(new CreateMultipartUploadCommand(place))
  await client.send(new UploadPartCommand({ ...place, UploadId, PartNumber: 1, Body: 'part' }))
  return place.Key
}

async function* breakingOff(): AsyncGenerator<Uint8Array> {
  yield contentOf('broken', 9 * MiB)
  throw new Error('The client left')
}

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = []
  for await (const item of items) found.push(item)
  return found
}
