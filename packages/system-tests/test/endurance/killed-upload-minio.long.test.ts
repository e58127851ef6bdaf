// It kills a server fifty times within one upload.
import { ListObjectsV2Command } from '@aws-sdk/client-s3'
import { describeWithMinio, minioEnvironment } from '@holdfast/testing/minio'
import { openMinioBlobStore } from '@holdfast/store-minio'
import { createSite, startHoldfast } from '@holdfast/testing'
import { expect } from 'chai'
import { fileName, killAmidUpload } from './broken-line/kill-amid-upload.ts'
import { killSize } from './broken-line/kill-size.ts'
import { withSeed } from './with-seed.ts'

const dayMs = 86_400_000

describeWithMinio('holdfast serve, killed fifty times within one upload to MinIO', (minio) => {
  it('has it whole in the end, over a line that breaks it, and nothing else', async function () {
    this.timeout(900_000)
    const { endpoint, accessKey, secretKey, client } = minio()
    const bucket = await minio().createBucket()
    const site = await createSite()
    const env = minioEnvironment(minio(), bucket)
    try {
      await withSeed(async (seed) => {
        const { growthMiB, figures } = await killAmidUpload({
          ...{ seed, length: killSize(), kills: 50 },
          start: () => startHoldfast([], { cwd: site.path, env }),
        })
        console.log(`figures: killed upload to MinIO: ${figures}, seed ${seed}`)
        expect(growthMiB, 'MiB beyond the idle process').to.be.below(150)
        const store = await openMinioBlobStore({ endpoint, bucket, accessKey, secretKey })
        await store.resumable?.sweep(new Date(Date.now() + 30 * dayMs))
        const { Contents: left = [] } = await client.send(
          new ListObjectsV2Command({ Bucket: bucket }),
        )
        expect(left.map(({ Key }) => Key)).to.deep.equal([`demo/${fileName}`])
        expect(await minio().unfinishedUploads(bucket)).to.deep.equal([])
        // The drive of the MinIO that tests share is small.
        await store.delete({ customer: 'demo', name: fileName })
        await store.close()
      })
    } finally {
      await site.remove()
    }
  })
})
