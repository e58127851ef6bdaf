import { expect } from 'chai'
import { expectError, expectOk, toAnswer } from '../support/answer.ts'
import { endLinks } from '../support/end-links.ts'
import { expectNoLitter } from '../support/expect-no-litter.ts'
import { makeUploadLink as makeLink } from '../support/make-upload-link.ts'
import type { StartService } from '../support/running-service.ts'

/** A stranger's tus client. */
function byTus(url: string) {
  const link = new URL(url)
  const place = new URL('/resumable', link)
  place.searchParams.set('link', link.searchParams.get('link') ?? '')
  place.searchParams.set('name', decodeURIComponent(link.pathname.slice('/upload/'.length)))
  const send = async (method: string, at: string, headers = {}, body?: string) =>
    toAnswer(
      await fetch(at, {
        method,
        headers: { 'tus-resumable': '1.0.0', ...headers },
        ...(body !== undefined && { body }),
      }),
    )
  return {
    place: place.href,
    send,
    /** Begins an upload, whose URL is `at`. */
    async begin(name: string, length: number) {
      const filename = Buffer.from(name).toString('base64')
      const headers = { 'upload-length': `${length}`, 'upload-metadata': `filename ${filename}` }
      const answer = await send('POST', place.href, headers)
      return { ...answer, at: new URL(answer.headers.get('location') ?? '', place).href }
    },
    append: (at: string, offset: number, body: string) => {
      const type = 'application/offset+octet-stream'
      return send('PATCH', at, { 'content-type': type, 'upload-offset': `${offset}` }, body)
    },
  }
}

export function uploadLinksInPieces(start: StartService): void {
  describe('POST /resumable with a link to upload', () => {
    it('takes a large file in pieces by tus, within the same bounds and for this link alone', async () => {
      await using service = await start()
      const url = await makeLink(service, 'in-', { prefix: true, maxFiles: 2, maxSize: 6 })
      const tus = byTus(url)
      const begun = await tus.begin('in-1 ü"\n'.replace('\n', ';'), 6)
      expect(begun.status).to.equal(201)
      expect((await tus.append(begun.at, 0, 'abc')).headers.get('upload-offset')).to.equal('3')
      const head = await tus.send('HEAD', begun.at)
      expect([head.status, head.headers.get('upload-offset')]).to.deep.equal([200, '3'])
      expectError(await tus.append(begun.at, 2, 'x'), 409, 'Upload conflict')
      const other = new URL(begun.at)
      for (const strange of [await makeLink(service, 'in-', { prefix: true }), `${url}0`]) {
        other.search = new URL(byTus(strange).place).search
        const refused = await tus.append(other.href, 3, 'xyz')
        expect(refused.status).to.equal(strange.endsWith('0') && strange === `${url}0` ? 403 : 404)
      }
      expect((await tus.append(begun.at, 3, 'def')).status).to.equal(204)
      expect(await service.anna.text('in-1 ü";')).to.equal('abcdef')
      expectError(await tus.begin('in-large', 7), 413, 'File too large')
      for (const [name, names] of [
        ['other', 'other names'],
        ['in-', 'longer names that begin with this one'],
      ] as const) {
        const refusal = `Invalid filename: the link is for ${names}`
        expectError(await tus.begin(name, 1), 400, refusal)
      }
      expectError(await tus.begin('in-1 ü";', 1), 412, 'Precondition Failed')
      const [left, last] = [await tus.begin('in-2', 1), await tus.begin('in-3', 1)]
      expectError(await tus.begin('in-4', 1), 503, 'Overloaded')
      expect((await tus.append(left.at, 0, 'x')).status).to.equal(204)
      const full = "Quota exceeded: the link's limit is 2 file(s)"
      expectError(await tus.append(last.at, 0, 'x'), 413, full)
      expect((await tus.send('DELETE', last.at)).status).to.equal(204)
      expectError(await tus.begin('in-5', 1), 413, full)
      expect(await service.anna.names()).to.deep.equal(['in-1 ü";', 'in-2'])
      expect(JSON.stringify(service.log)).to.not.include(url.slice(-64))
      await expectNoLitter(service)
    })

    it('never takes more files in pieces than its maker says, however many end at once', async () => {
      await using service = await start()
      const tus = byTus(await makeLink(service, 'in-', { prefix: true, maxFiles: 8 }))
      const begun = await Promise.all(
        Array.from({ length: 8 }, async (_, n) => tus.begin(`in-${n}`, 1)),
      )
      for (const n of ['a', 'b', 'c']) expectOk(await service.anna.put(`in-${n}`, 'of anna'))
      const answers = await Promise.all(
        begun.map(async ({ status, at }) =>
          status === 201 ? (await tus.append(at, 0, 'x')).status : status,
        ),
      )
      expect(answers.filter((status) => status === 204).length).to.be.at.most(5)
      expect(await service.anna.names()).to.have.length.at.most(8)
    })

    it('takes no further piece once the customer has ended all links', async () => {
      await using service = await start()
      const tus = byTus(await makeLink(service, 'a'))
      const { at } = await tus.begin('a', 2)
      expect((await tus.append(at, 0, 'x')).status).to.equal(204)
      await endLinks(service.anna)
      expectError(await tus.append(at, 1, 'y'), 403, 'The link is wrong, or has expired')
      expect((await tus.send('HEAD', at)).status).to.equal(403)
      expect(await service.anna.names()).to.deep.equal([])
    })

    it('ends with the link, whatever has arrived', async () => {
      await using service = await start()
      const tus = byTus(await makeLink(service, 'a'))
      const { at } = await tus.begin('a', 2)
      expect((await tus.append(at, 0, 'x')).status).to.equal(204)
      const altered = at.replace('link=', 'link=1')
      for (const [method, where] of [
        ['HEAD', altered],
        ['PATCH', altered],
        ['DELETE', altered],
        ['POST', tus.place.replace('name=a', 'name=b')],
        ['POST', tus.place.replace('name=a', '')],
        ['POST', `${tus.place}&name=a`],
        ['POST', `${tus.place}&link=x`],
      ] as const) {
        expect((await tus.send(method, where)).status, `${method} ${where}`).to.equal(403)
      }
      expectError(await tus.send('POST', `${service.url}/resumable`), 400, 'No auth headers')
      expect((await tus.append(at, 1, 'y')).status).to.equal(204)
      expect(await service.anna.text('a')).to.equal('xy')
    })
  })
}
