import { cpSync, readdirSync, utimesSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { ListObjectsV2Command } from '@aws-sdk/client-s3'
import { describeWithMinio, minioEnvironment } from '@holdfast/testing/minio'
import { openDiskBlobStore } from '@holdfast/store-disk'
import { openMinioBlobStore } from '@holdfast/store-minio'
import {
  residentMiB,
  runHoldfast,
  type HoldfastServer,
  until,
  useHoldfast,
} from '@holdfast/testing'
import { expect } from 'chai'

/** MiB that a server may need beyond one without uploads. It takes 24. */
const allowedMiB = 64

describe('holdfast serve, with uploads that were begun and never go on', function () {
  this.timeout(300_000)
  const holdfast = useHoldfast()
  const { site } = holdfast
  const start = (env: Readonly<Record<string, string>> = {}) => holdfast.start([], { env })
  /** Stops it, and resolves with the most memory that it had, in MiB. */
  const stop = async (server: HoldfastServer) => {
    const { most } = await residentMiB(server.pid)
    server.signal('SIGTERM')
    expect(await server.ended).to.equal(0)
    return most
  }

  /** The line of the sweep, which takes its time on a machine with much else to do. */
  const sweptBy = async (server: HoldfastServer) => {
    const message = 'expired uploads were removed'
    await until('uploads are swept', () => server.output().includes(message), 200_000)
    return server.logged(message)
  }

  it('needs little memory for 10,000 of them, and keeps nothing after they expire', async () => {
    const uploads = 10_000
    const data = join(site.path, 'data')
    const own = join(data, 'uploads/demo')
    const empty = await stop(await start())
    const store = await openDiskBlobStore({ directory: data })
    const { id } = await store.resumable.begin('demo', { name: 'a', expiresAfterMs: 3_600_000 })
    await store.close()
    // To begin each of them would take most of the time of this test.
    for (let count = 1; count < uploads; count++) {
      cpSync(join(own, id), join(own, count.toString(16).padStart(32, '0')), { recursive: true })
    }

    const waiting = await start()
    const { stdout } = await runHoldfast(['usage', 'demo', '--json'], { cwd: site.path })
    expect(JSON.parse(stdout)).to.include({ unfinishedUploads: uploads, unfinishedBytes: 0 })
    expect((await stop(waiting)) - empty, 'MiB for them').to.be.below(allowedMiB)

    for (const path of readdirSync(own, { recursive: true, encoding: 'utf8' })) {
      utimesSync(join(own, path), 1, 1)
    }
    const sweeping = await start()
    expect(await sweptBy(sweeping)).to.include({ uploads })
    expect((await stop(sweeping)) - empty, 'MiB to remove them').to.be.below(allowedMiB)
    const left = await readdir(data, { recursive: true })
    expect(left.sort()).to.deep.equal(['files', 'holdfast.json', 'tmp', 'uploads', 'uploads/demo'])
  })

  describeWithMinio('in a bucket', (minio) => {
    it('keeps an object for each of 500, and nothing after they expire', async () => {
      const uploads = 500
      const bucket = await minio().createBucket()
      const { endpoint, accessKey, secretKey, client } = minio()
      const countObjects = async () => {
        const listed = await client.send(new ListObjectsV2Command({ Bucket: bucket }))
        return listed.KeyCount
      }
      const store = await openMinioBlobStore({ endpoint, bucket, accessKey, secretKey })
      const beginSome = async () => {
        for (let count = 0; count < uploads / 25; count++) {
          await store.resumable?.begin('demo', { name: 'a', expiresAfterMs: 1 })
        }
      }
      await Promise.all(Array.from({ length: 25 }, beginSome))
      await store.close()
      expect(await countObjects()).to.equal(uploads)
      const server = await start(minioEnvironment(minio(), bucket))
      expect(await sweptBy(server)).to.include({ uploads })
      expect(await countObjects()).to.equal(0)
    })
  })
})
