import { expect } from 'chai'
import { nastyNames } from '@holdfast/contract'
import { expectOk } from '../support/answer.ts'
import type { StartService } from '../support/running-service.ts'

export function serveHeaders(start: StartService): void {
  describe('served headers', () => {
    it('are Content-Length, Accept-Ranges: bytes, nosniff, CSP sandbox, CORP and Cache-Control', async () => {
      await using service = await start()
      expectOk(await service.anna.upload('a.txt', 'four'))
      const { headers } = await service.anna.serve('a.txt')
      expect(Object.fromEntries(headers)).to.include({
        'content-length': '4',
        'accept-ranges': 'bytes',
        'x-content-type-options': 'nosniff',
        'content-security-policy': 'sandbox',
        'cross-origin-resource-policy': 'same-origin',
        'cache-control': 'private, no-cache',
      })
    })

    it('have Content-Length: 0 for an empty file', async () => {
      await using service = await start()
      expectOk(await service.anna.upload('empty', ''))
      const { headers } = await service.anna.serve('empty')
      expect(headers.get('content-length')).to.equal('0')
    })

    for (const [name, type] of [
      ['a.txt', 'text/plain; charset=utf-8'],
      ['a.PNG', 'image/png'],
      ['a.html', 'text/html; charset=utf-8'],
      ['a.tar.gz', 'application/gzip'],
      ['a.no-such-type', 'application/octet-stream'],
      ['no extension', 'application/octet-stream'],
      ['.txt', 'application/octet-stream'],
    ] as const) {
      it(`have the Content-Type by extension: ${name} is ${type}`, async () => {
        await using service = await start()
        expectOk(await service.anna.upload(name, 'x'))
        expect((await service.anna.serve(name)).headers.get('content-type')).to.equal(type)
      })
    }

    it('have a strong ETag that changes with the content', async () => {
      await using service = await start()
      const tags = new Set<string | null>()
      for (let version = 0; version < 5; version++) {
        expectOk(await service.anna.upload('a', `version ${version}`))
        const { headers } = await service.anna.serve('a')
        expect(headers.get('etag')).to.match(/^"[\x21\x23-\x7e]+"$/)
        expect((await service.anna.serve('a')).headers.get('etag')).to.equal(headers.get('etag'))
        tags.add(headers.get('etag'))
      }
      expect(tags.size).to.equal(5)
    })

    it('have a Last-Modified in the format of HTTP, of the time of the upload', async () => {
      await using service = await start()
      const before = Math.floor(Date.now() / 1000) * 1000
      expectOk(await service.anna.upload('a', 'x'))
      const modified = (await service.anna.serve('a')).headers.get('last-modified') ?? ''
      expect(new Date(modified).toUTCString()).to.equal(modified)
      // File systems stamp files by a clock that ticks every few milliseconds.
      expect(Date.parse(modified)).to.be.within(before - 1000, Date.now())
    })

    it('have Content-Disposition: attachment that gives back every name', async () => {
      await using service = await start()
      for (const name of nastyNames) {
        expectOk(await service.anna.put(name, 'x'))
        const { headers } = await service.anna.serve(name)
        expect(nameIn(headers.get('content-disposition') ?? ''), name).to.equal(name)
      }
    })

    it('have filename* for a name beyond ASCII (RFC 6266, RFC 8187)', async () => {
      await using service = await start()
      expectOk(await service.anna.upload('naïve 你.txt', 'x'))
      const { headers } = await service.anna.serve('naïve 你.txt')
      expect(headers.get('content-disposition'))
        .to.match(/^attachment; filename="[^"]+"; /)
        .and.include("filename*=UTF-8''na%C3%AFve%20%E4%BD%A0.txt")
    })
  })
}

/** The name that a browser saves under: `filename*` before `filename` (RFC 6266 §4.3). */
function nameIn(disposition: string): string | undefined {
  const extended = /; filename\*=UTF-8''([\w!#$&+.^`|~%-]+)$/.exec(disposition)?.[1]
  if (extended !== undefined) return decodeURIComponent(extended)
  const plain = /^attachment; filename=(?:"((?:[^"\\]|\\.)*)"|([\w!#$%&'*+.^`|~-]+))$/.exec(
    disposition,
  )
  return plain?.[1]?.replace(/\\(.)/g, '$1') ?? plain?.[2]
}
