import { ListObjectVersionsCommand, PutBucketVersioningCommand } from '@aws-sdk/client-s3'
import type { Finding } from '@holdfast/core'
import {
  describeWithMinio,
  policyOf,
  policyWithVersionsOf,
  temporaryKeys,
  withoutRight,
  type Policy,
} from '@holdfast/testing/minio'
import { expect } from 'chai'
import { startAlteringProxy } from '../inspect/start-altering-proxy.ts'
import { inspectBucket } from '../../src/inspect/inspect-bucket.ts'
import { openMinioBlobStore, type MinioBlobStoreOptions } from '../../src/minio-blob-store.ts'

describeWithMinio('historyProblem', (minio) => {
  const problemOf = async (bucket: string, options: Partial<MinioBlobStoreOptions> = {}) => {
    const { endpoint, accessKey, secretKey } = minio()
    const store = await openMinioBlobStore({ endpoint, accessKey, secretKey, bucket, ...options })
    await store.close()
    expect(store.history === undefined).to.equal(store.historyProblem() !== undefined)
    return store.historyProblem()
  }

  const problemWith = async (bucket: string, policy: Policy) =>
    problemOf(bucket, await temporaryKeys(minio(), policy))

  it('says that the bucket has no versioning', async () => {
    const bucket = await minio().createBucket()
    expect(await problemOf(bucket)).to.equal(
      `the bucket "${bucket}" has no versioning; mc version enable minio/${bucket}`,
    )
  })

  it('says that versioning is suspended', async () => {
    const bucket = await minio().createVersionedBucket()
    const VersioningConfiguration = { Status: 'Suspended' } as const
    const command = new PutBucketVersioningCommand({ Bucket: bucket, VersioningConfiguration })
    await minio().client.send(command)
    expect(await problemOf(bucket)).to.equal(
      `versioning of the bucket "${bucket}" is suspended; mc version enable minio/${bucket}`,
    )
  })

  it('is none with the rights of docs/deploy/bucket-versions-policy.json, and leaves nothing', async () => {
    const bucket = await minio().createVersionedBucket()
    expect(await problemWith(bucket, policyWithVersionsOf(bucket))).to.equal(undefined)
    const left = await minio().client.send(new ListObjectVersionsCommand({ Bucket: bucket }))
    expect([...(left.Versions ?? []), ...(left.DeleteMarkers ?? [])]).to.deep.equal([])
  })

  for (const right of ['s3:GetBucketVersioning', 's3:DeleteObjectVersion']) {
    it(`says that ${right} is missing`, async () => {
      const bucket = await minio().createVersionedBucket()
      const policy = withoutRight(policyWithVersionsOf(bucket), right)
      expect(await problemWith(bucket, policy)).to.match(
        new RegExp(`^the policy does not allow ${right}; give the access key the rights`),
      )
    })
  }

  // MinIO has them go with s3:ListBucket and s3:GetObject; AWS does not.
  for (const [right, method, query] of [
    ['s3:ListBucketVersions', 'GET', /[?&]versions/],
    ['s3:GetObjectVersion', 'GET', /[?&]versionId=/],
  ] as const) {
    it(`says that ${right} is missing, on servers that judge it`, async () => {
      const bucket = await minio().createVersionedBucket()
      await using proxy = await startAlteringProxy(minio().endpoint, {
        answer: (incoming, response) => {
          if (incoming.method !== method || !query.test(incoming.url ?? '')) return false
          response.writeHead(403).end('<Error><Code>AccessDenied</Code></Error>')
          return true
        },
      })
      expect(await problemOf(bucket, { endpoint: proxy.endpoint })).to.match(
        new RegExp(`^the policy does not allow ${right}; `),
      )
    })
  }

  it('is what an inspection reports if versions are to be kept', async () => {
    const inspect = async (bucket: string, policy: Policy) => {
      const { endpoint } = minio()
      const options = { ...(await temporaryKeys(minio(), policy)), endpoint, bucket }
      const findings: Finding[] = []
      for await (const each of inspectBucket({ ...options, keepReplaced: true })) {
        if (each.check === 'versioning') findings.push(each)
      }
      return findings.map(({ mark, message }) => `${mark}: ${message}`)
    }
    const bucket = await minio().createVersionedBucket()
    expect(await inspect(bucket, policyWithVersionsOf(bucket))).to.deep.equal([
      'ok: is on; what is replaced or deleted can be restored',
    ])
    const [problem] = await inspect(bucket, policyOf(bucket))
    expect(problem).to.match(/^problem: nothing can be restored: the policy does not allow/)
  })
})
