import { curl } from '@holdfast/testing'
import { expect } from 'chai'
import { expectError, expectOk } from '../support/answer.ts'
import { requestHead } from '../support/request-head.ts'
import type { StartService } from '../support/running-service.ts'

const curlAuth = ['-H', 'x-auth-name: anna', '-H', 'x-auth-password: correct horse']

export function uploadRaw(start: StartService): void {
  describe('PUT /upload/:filename', () => {
    it('stores a raw body as the file, from curl -T with and without a known length', async () => {
      await using service = await start()
      const input = Buffer.alloc(300_000, 'raw')
      const chunked = await curl([...curlAuth, '-T', '-', `${service.url}/upload/a`], { input })
      const known = await curl([...curlAuth, '-T', '/dev/null', `${service.url}/upload/b`])
      expect([chunked.stdout.toString(), known.stdout.toString()]).to.deep.equal(['OK', 'OK'])
      expect((await service.anna.serve('a')).bytes.equals(input)).to.equal(true)
      expect(await service.anna.text('b')).to.equal('')
    })

    it('takes every content type, forms included, as bytes', async () => {
      await using service = await start()
      const type = { 'Content-Type': 'multipart/form-data; boundary=x' }
      expectOk(await service.anna.put('a', '--x--', type))
      expect(await service.anna.text('a')).to.equal('--x--')
    })

    it('gives the ETag that serve gives', async () => {
      await using service = await start()
      const stored = await service.anna.put('a', 'x')
      const served = await service.anna.serve('a')
      expect(stored.headers.get('etag')).to.equal(served.headers.get('etag')).and.match(/^"/)
    })

    it('names the file by the path, decoded once', async () => {
      await using service = await start()
      const head = requestHead('PUT', '/upload/%2541%20%E4%BD%A0+b', {
        ...service.anna.headers,
        'Content-Length': 2,
      })
      expectOk(await service.exchange(head, 'hi'))
      expect(await service.anna.names()).to.deep.equal(['%41 你+b'])
    })

    it('answers No filename. Use /upload/<filename> without a name', async () => {
      await using service = await start()
      const answer = await service.anna.send('PUT', '/upload/', { body: 'x' })
      expectError(answer, 400, 'No filename. Use /upload/<filename>')
    })

    it('stores a file called batch, which is a path of its own for POST only', async () => {
      await using service = await start()
      expectOk(await service.anna.put('batch', 'hi'))
      expect(await service.anna.text('batch')).to.equal('hi')
    })

    it('refuses a part that passes for the whole: Content-Range', async () => {
      await using service = await start()
      expectOk(await service.anna.put('a', 'old'))
      const answer = await service.anna.put('a', 'x', { 'Content-Range': 'bytes 0-0/3' })
      expect(answer.status).to.equal(400)
      expect(await service.anna.text('a')).to.equal('old')
    })
  })
}
