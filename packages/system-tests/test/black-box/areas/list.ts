import type { IncomingMessage } from 'node:http'
import { once } from 'node:events'
import { buffer } from 'node:stream/consumers'
import { expect } from 'chai'
import type { BlobStore } from '@holdfast/core'
import { expectError, expectOk } from '../support/answer.ts'
import { anna, type RunningService, type StartService } from '../support/running-service.ts'

/** What a list with details has of a file. */
interface Details {
  readonly name: string
  readonly size: number
  readonly modified: string
  readonly type: string
  readonly etag: string
}

async function storeAll(service: RunningService, names: readonly string[]): Promise<void> {
  for (const name of names) expectOk(await service.anna.upload(name, ''))
}

export function list(start: StartService): void {
  describe('GET /list', () => {
    it('answers 200 with a JSON array of the names', async () => {
      await using service = await start()
      await storeAll(service, ['a.txt'])
      const answer = await service.anna.list()
      expect(answer.status).to.equal(200)
      expect(answer.headers.get('content-type')).to.equal('application/json; charset=utf-8')
      expect(answer.bytes.toString()).to.equal('["a.txt"]')
    })

    it('answers 400 No files uploaded yet when the customer has none, and again after the last is deleted', async () => {
      await using service = await start()
      expectError(await service.anna.list(), 400, 'No files uploaded yet')
      await storeAll(service, ['a'])
      expectOk(await service.anna.remove('a'))
      expectError(await service.anna.list(), 400, 'No files uploaded yet')
    })

    it('is ascending by UTF-8 bytes, not by UTF-16 units', async () => {
      await using service = await start()
      const names = ['😀', '\uff5e', 'a', 'B', 'é', 'e\u0301', '10', '9', ' ', '~', 'ab', 'a b']
      await storeAll(service, names)
      const sorted = [' ', '10', '9', 'B', 'a', 'a b', 'ab', 'e\u0301', '~', 'é', '\uff5e', '😀']
      expect(await service.anna.names()).to.deep.equal(sorted)
    })

    it('answers HEAD like GET, without a body', async () => {
      await using service = await start()
      const none = await service.anna.send('HEAD', '/list')
      await storeAll(service, ['a'])
      const some = await service.anna.send('HEAD', '/list')
      expect([none.status, some.status]).to.deep.equal([400, 200])
      expect(some.headers.get('content-type')).to.equal('application/json; charset=utf-8')
      expect(some.bytes.length + none.bytes.length).to.equal(0)
    })

    it('is whole for a client of HTTP/1.0, too, which knows no chunks', async () => {
      await using service = await start()
      await storeAll(service, ['a', 'b'])
      const auth = Object.entries(service.anna.headers).map(([name, value]) => `${name}: ${value}`)
      const lines = ['GET /list HTTP/1.0', ...auth, '', '']
      const answer = await service.exchange(lines.join('\r\n'))
      expect(answer.headers.get('transfer-encoding')).to.equal(null)
      expect(answer.bytes.toString()).to.equal('["a","b"]')
    })

    it('is streamed: the first names come while the store still looks for the last', async () => {
      const gate = Promise.withResolvers<undefined>()
      const endless = (store: BlobStore): BlobStore => ({
        ...store,
        async *list() {
          for (let index = 0; index < 10_000; index++) yield [`name ${index}`]
          await gate.promise
          yield ['last']
        },
      })
      await using service = await start({ wrap: endless })
      const request = service.request('/list', { headers: service.anna.headers }).end()
      const [response] = (await once(request, 'response')) as [IncomingMessage]
      await once(response, 'readable')
      expect(String(response.read())).to.match(/^\["name 0","name 1",/)
      gate.resolve(undefined)
      expect((await buffer(response)).toString()).to.match(/,"last"\]$/)
    })
  })

  describe('paging through the list', () => {
    const names = ['a', 'a/b'.replace('/', '-'), 'ab', 'b', 'b&c=d', '你', '😀']

    it('?limit=N&after=NAME gives every name once, in order', async () => {
      await using service = await start()
      await storeAll(service, names)
      const pages: string[] = []
      let page = await service.anna.names({ limit: '2' })
      while (page.length > 0) {
        expect(page.length).to.be.at.most(2)
        pages.push(...page)
        page = await service.anna.names({ limit: '2', after: page.at(-1) ?? '' })
      }
      expect(pages).to.deep.equal(await service.anna.names())
      expect(pages).to.have.members(names)
    })

    it('leads with Link from page to page', async () => {
      await using service = await start()
      await storeAll(service, [...names, 'ö & <ü>', '100% +'])
      const all = await service.anna.names()
      const pages: string[] = []
      let path: string | undefined = '/list?limit=2'
      while (path !== undefined) {
        const head = await service.anna.send('HEAD', path)
        const answer = await service.anna.send('GET', path)
        const link = answer.headers.get('link')
        expect(head.headers.get('link')).to.equal(link)
        pages.push(...(JSON.parse(answer.bytes.toString()) as string[]))
        const [, query] = /^<(\?[!#-;=?-~]+)>; rel="next"$/.exec(link ?? '') ?? []
        expect(query === undefined).to.equal(link === null)
        path = query === undefined ? undefined : `/list${query}`
      }
      expect(pages).to.deep.equal(all)
      const whole = await service.anna.list({ limit: String(all.length) })
      expect(whole.headers.get('link')).to.equal(null)
      const cut = await service.anna.list({ limit: '2', prefix: 'a' })
      expect(cut.headers.get('link')).to.equal('<?limit=2&prefix=a&after=a-b>; rel="next"')
    })

    it('?after=NAME begins behind a name that need not exist', async () => {
      await using service = await start()
      await storeAll(service, names)
      expect(await service.anna.names({ after: 'aa' })).to.deep.equal([
        'ab',
        'b',
        'b&c=d',
        '你',
        '😀',
      ])
    })

    it('?prefix=P gives the names that begin with it', async () => {
      await using service = await start()
      await storeAll(service, names)
      expect(await service.anna.names({ prefix: 'a' })).to.deep.equal(['a', 'a-b', 'ab'])
      expect(await service.anna.names({ prefix: 'a', after: 'a', limit: '1' })).to.deep.equal([
        'a-b',
      ])
    })

    it('gives [] for an empty page when after or prefix was given', async () => {
      await using service = await start()
      for (const query of [
        { after: 'z' },
        { prefix: 'z' },
        { after: 'z', limit: '1' },
        { after: '' },
        { prefix: '' },
      ]) {
        const answer = await service.anna.list(query)
        expect([answer.status, answer.bytes.toString()]).to.deep.equal([200, '[]'])
      }
    })

    it('gives No files uploaded yet for an empty page when neither was given', async () => {
      await using service = await start()
      for (const query of [{ limit: '1' }, { other: 'x' }]) {
        expectError(await service.anna.list(query), 400, 'No files uploaded yet')
      }
    })

    for (const limit of ['0', '-1', '1.5', 'x', '', '1e3', '99999999999999999999']) {
      it(`refuses limit=${limit}: 400`, async () => {
        await using service = await start()
        const answer = await service.anna.list({ limit })
        expectError(answer, 400, 'Invalid limit: it must be a whole number from 1')
      })
    }
  })

  describe('GET /list?details=1', () => {
    const details = async (
      service: RunningService,
      query: Readonly<Record<string, string>> = {},
    ) => {
      const answer = await service.anna.list({ ...query, details: '1' })
      expect([answer.status, answer.headers.get('content-type')]).to.deep.equal([
        200,
        'application/json; charset=utf-8',
      ])
      return JSON.parse(answer.bytes.toString()) as readonly Details[]
    }

    it('says of each file what HEAD /serve says, in the order of the names', async () => {
      await using service = await start()
      const files = [
        'a.txt',
        'b.TAR.gz',
        'ö & 你.html',
        'no extension',
        '.hidden',
        'x.unknown',
        '😀.svg',
      ]
      for (const [length, name] of files.entries()) {
        expectOk(await service.anna.upload(name, 'x'.repeat(length)))
      }
      const listed = await details(service)
      expect(listed.map(({ name }) => name)).to.deep.equal(await service.anna.names())
      for (const entry of listed) {
        const head = await service.anna.send('HEAD', `/serve/${encodeURIComponent(entry.name)}`)
        const modified = new Date(entry.modified)
        expect(modified.toISOString()).to.equal(entry.modified)
        expect({
          ...entry,
          modified: modified.toUTCString(),
        }).to.deep.equal({
          name: entry.name,
          size: Number(head.headers.get('content-length')),
          modified: head.headers.get('last-modified'),
          type: head.headers.get('content-type'),
          etag: head.headers.get('etag'),
        })
      }
    })

    it('has entity tags that fit If-Match as they are, and change with the file', async () => {
      await using service = await start()
      await storeAll(service, ['a'])
      const [before] = await details(service)
      const conditional = { 'if-match': before?.etag ?? '' }
      expect((await service.anna.serve('a', conditional)).status).to.equal(200)
      expectOk(await service.anna.upload('a', 'longer'))
      const [after] = await details(service)
      expect((await service.anna.serve('a', conditional)).status).to.equal(412)
      expect(after?.size).to.equal(6)
      expect(after?.etag).not.to.equal(before?.etag)
    })

    it('pages with limit, after, prefix and Link as names do, and has the same for HEAD', async () => {
      await using service = await start()
      await storeAll(service, ['a', 'ab', 'b', 'ö +', '😀'])
      const pages: string[] = []
      let path: string | undefined = '/list?details=1&limit=2'
      while (path !== undefined) {
        const head = await service.anna.send('HEAD', path)
        const answer = await service.anna.send('GET', path)
        const link = answer.headers.get('link')
        expect([head.status, head.headers.get('link')]).to.deep.equal([200, link])
        const page = JSON.parse(answer.bytes.toString()) as readonly Details[]
        pages.push(...page.map(({ name }) => name))
        const [, query] = /^<(\?details=1&[^>]+)>; rel="next"$/.exec(link ?? '') ?? []
        expect(query === undefined).to.equal(link === null)
        path = query === undefined ? undefined : `/list${query}`
      }
      expect(pages).to.deep.equal(await service.anna.names())
      const cut = await details(service, { prefix: 'a', after: 'a' })
      expect(cut.map(({ name }) => name)).to.deep.equal(['ab'])
      expect(await details(service, { after: '😀' })).to.deep.equal([])
    })

    it('is a list of one customer, and an error where there are no files', async () => {
      const bert = { name: 'bert', password: 'password of bert' }
      await using service = await start({ customers: [anna, bert] })
      const other = service.as(bert)
      await storeAll(service, ['a'])
      expectError(await other.list({ details: '1' }), 400, 'No files uploaded yet')
    })

    it('is streamed, and cut off where the store fails', async () => {
      const failing = (store: BlobStore): BlobStore => ({
        ...store,
        async *listDetails() {
          for (let index = 0; index < 1_000; index++) {
            yield [{ name: `name ${index}`, size: 1, modifiedAt: new Date(0), etag: `${index}` }]
          }
          throw new Error('lost')
        },
      })
      await using service = await start({ wrap: failing })
      const failure = await service.anna.list({ details: '1' }).catch((error: unknown) => error)
      expect(failure).to.be.an.instanceof(Error)
    })

    for (const value of ['0', '', 'true']) {
      it(`refuses details=${value}: 400`, async () => {
        await using service = await start()
        const answer = await service.anna.list({ details: value })
        expectError(answer, 400, 'Invalid details: it must be 1')
      })
    }
  })
}
