import { describeWithContainers, startMinio, minioKeys } from '@holdfast/testing/minio'
import { createSite, credentials, type HoldfastServer, startHoldfast } from '@holdfast/testing'
import { expect } from 'chai'

describeWithContainers('holdfast serve --store minio, whose MinIO goes down', () => {
  it('says 503 until it is back, and then goes on by itself', async function () {
    this.timeout(120_000)
    const site = await createSite()
    const minio = await startMinio()
    const flags = ['--minio-endpoint', minio.endpoint, '--minio-bucket', 'files']
    const server = await startHoldfast(['--store', 'minio', '--minio-create-bucket', ...flags], {
      cwd: site.path,
      env: minioKeys(minio),
    })
    try {
      expect(await ask(server, 'PUT', '/upload/a.txt', 'earlier')).to.deep.equal([200, 'OK'])
      await minio.kill()
      for (const [method, path, body] of requests) {
        const [status, text] = await ask(server, method, path, body)
        expect(status, `${method} ${path}`).to.equal(503)
        expect(JSON.parse(text)).to.deep.equal({
          statusCode: 503,
          error: 'Service Unavailable',
          message: 'Storage unavailable',
        })
      }
      await minio.start()
      expect(await ask(server, 'GET', '/serve/a.txt')).to.deep.equal([200, 'earlier'])
      expect(await ask(server, 'GET', '/list')).to.deep.equal([200, '["a.txt"]'])
      expect(await ask(server, 'PUT', '/upload/a.txt', 'later')).to.deep.equal([200, 'OK'])
      expect(await ask(server, 'GET', '/serve/a.txt')).to.deep.equal([200, 'later'])
      expect(await ask(server, 'DELETE', '/delete/a.txt')).to.deep.equal([200, 'OK'])
    } finally {
      await server.kill()
      await minio.stop()
      await site.remove()
    }
  })
})

const requests = [
  ['PUT', '/upload/a.txt', 'small'],
  ['PUT', '/upload/large.bin', 'x'.repeat(20 * 1024 * 1024)],
  ['GET', '/serve/a.txt', undefined],
  ['GET', '/serve/never-there.txt', undefined],
  ['GET', '/list', undefined],
  ['DELETE', '/delete/a.txt', undefined],
] as const

async function ask({ url }: HoldfastServer, method: string, path: string, body?: string) {
  const init = { method, headers: credentials, ...(body !== undefined && { body }) }
  const response = await fetch(url + path, init)
  return [response.status, await response.text()] as const
}
