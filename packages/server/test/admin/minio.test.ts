import { describeWithContainers, startMinio, minioKeys } from '@holdfast/testing/minio'
import { createSite, startHoldfast, adminPortOf } from '@holdfast/testing'
import { expect } from 'chai'

describeWithContainers('holdfast serve --admin-port on MinIO', () => {
  it('turns red when MinIO is gone, says why, and is green when it is back', async function () {
    this.timeout(120_000)
    const site = await createSite()
    const minio = await startMinio()
    const store = ['--store', 'minio', '--minio-endpoint', minio.endpoint]
    const bucket = ['--minio-bucket', await minio.createBucket()]
    const env = minioKeys(minio)
    const args = [...store, ...bucket, '--admin-port', '0']
    const server = await startHoldfast(args, { cwd: site.path, env })
    try {
      const admin = await adminPortOf(server)
      await admin.turnsGreen()
      await minio.kill()
      expect(Object.keys(await admin.turnsRed())).to.deep.equal(['store'])
      expect((await fetch(`${admin.url}/live`)).status).to.equal(200)
      await minio.start()
      await admin.turnsGreen()
    } finally {
      await server.kill()
      await minio.stop()
      await site.remove()
    }
  })
})
