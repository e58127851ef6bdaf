// It stores and serves 2 GiB.
import { describeWithMinio, minioEnvironment } from '@holdfast/testing/minio'
import { createSite, residentMiB, resetPeak, startHoldfast } from '@holdfast/testing'
import { expect } from 'chai'
import { digestOf, postForm, pseudoRandom, putRaw, serve, warmUp } from './large-content.ts'

const MiB = 1024 ** 2
// Sixteen parts each, together eight times what the server may take.
const size = 128 * MiB
const uploads = 16

describeWithMinio('sixteen uploads of 128 MiB at once to MinIO', (minio) => {
  it('arrive whole, within 256 MiB of memory, and come down within 96', async function () {
    this.timeout(600_000)
    const site = await createSite()
    const env = minioEnvironment(minio(), await minio().createBucket())
    const server = await startHoldfast([], { cwd: site.path, env })
    const growthSince = async (before: number) => (await residentMiB(server.pid)).most - before
    try {
      await warmUp(server.url)
      const { now: idle } = await residentMiB(server.pid)
      const statuses = await Promise.all(
        Array.from({ length: uploads }, (_, index) =>
          (index % 2 ? postForm : putRaw)(server.url, `file-${index}`, size),
        ),
      )
      expect(statuses).to.deep.equal(Array.from({ length: uploads }, () => 200))
      expect(await growthSince(idle), 'MiB beyond the idle server').to.be.below(256)

      await resetPeak(server.pid)
      const { now: before } = await residentMiB(server.pid)
      const expected = await digestOf(pseudoRandom(size))
      for (const name of ['file-0', 'file-1']) {
        expect(await digestOf(await serve(server.url, name)), name).to.equal(expected)
      }
      expect(await growthSince(before), 'MiB for downloads').to.be.below(96)
    } finally {
      await server.kill()
      await site.remove()
    }
  })
})
