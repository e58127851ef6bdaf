import { PutObjectCommand } from '@aws-sdk/client-s3'
import { describeWithMinio } from '@holdfast/testing/minio'
import { expect } from 'chai'
import { openMinioBlobStore } from '../../src/minio-blob-store.ts'

const key = { customer: 'alice', name: 'a' }

async function all<T>(pages: AsyncIterable<readonly T[]> | undefined): Promise<T[]> {
  const found: T[] = []
  for await (const page of pages ?? []) found.push(...page)
  return found
}

describeWithMinio('history with more versions of a name than S3 lists in one answer', (minio) => {
  it('lists them in any pages, and each once, while they are purged', async () => {
    const { endpoint, accessKey, secretKey, client } = minio()
    const bucket = await minio().createVersionedBucket()
    for (let index = 0; index < 1_050; index++) {
      const Body = 'x'.repeat(index % 7)
      await client.send(new PutObjectCommand({ Bucket: bucket, Key: 'alice/a', Body }))
    }
    const store = await openMinioBlobStore({ endpoint, accessKey, secretKey, bucket })
    try {
      const { history } = store
      const present = await store.stat(key)
      const kept = await all(history?.versions(key))
      expect(kept.map(({ size }) => size)).to.deep.equal(
        Array.from({ length: 1_049 }, (_, at) => (1_048 - at) % 7),
      )
      const before = kept[999]?.version ?? ''
      const rest = await all(history?.versions(key, { before, limit: 20 }))
      expect(rest).to.deep.equal(kept.slice(1000, 1020))

      const seen: string[] = []
      let purged: number | undefined
      for await (const page of history?.kept('alice') ?? []) {
        seen.push(...page.map(({ version }) => version))
        // The list goes on after a version that is gone.
        purged ??= (await history?.purge('alice', kept[3]?.replacedAt ?? new Date()))?.blobs
      }
      expect(purged).to.equal(1_045)
      expect(new Set(seen).size).to.equal(seen.length)
      expect(kept.map(({ version }) => version)).to.include.members(seen)
      expect(await all(history?.versions(key))).to.deep.equal(kept.slice(0, 4))
      expect(await store.stat(key)).to.deep.equal(present)
    } finally {
      await store.close()
    }
  }).timeout(120_000)
})
