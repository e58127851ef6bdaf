import { request as send } from 'node:http'
import type { IncomingHttpHeaders } from 'node:http'
import { once } from 'node:events'
import { buffer } from 'node:stream/consumers'
import { createFileService } from '@holdfast/core'
import { createMemoryBlobStore } from '@holdfast/core/memory'
import { expect } from 'chai'
import Koa from 'koa'
import { createApp, createRouter, type PageFile, type RouterOptions } from '../../src/index.ts'
import { createHttpServer } from '../../src/server/http-server.ts'
import { listen } from '../support/listening.ts'

const text = (content: string): PageFile => ({
  headers: { 'Content-Type': 'text/html; charset=utf-8', 'X-Page': 'yes' },
  etags: { identity: '"a"', gzip: '"a.gz"', br: '"a.br"' },
  contents: {
    identity: Buffer.from(content),
    gzip: Buffer.from(`${content} in gzip`),
    br: Buffer.from(`${content} in br`),
  },
})
const page = new Map([
  ['', text('the page')],
  ['assets/index-1.js', text('a script')],
])
const html = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' }

const service = () => createFileService({ store: createMemoryBlobStore() })
const run = (options: RouterOptions) => listen(createHttpServer(createApp(service(), options)))
const withPage = { web: async () => page }

/** As it comes: `fetch` would undo the encoding. */
async function get(url: string, headers: Record<string, string> = {}, method = 'GET') {
  const request = send(url, { method, headers }).end()
  const [response] = (await once(request, 'response')) as [
    AsyncIterable<Uint8Array> & { statusCode: number; headers: IncomingHttpHeaders },
  ]
  const body = await buffer(response as never)
  return { status: response.statusCode, headers: response.headers, body: body.toString() }
}

describe('The page', () => {
  it('is what a client gets that asks for HTML', async () => {
    await using app = await run(withPage)
    const { status, headers, body } = await get(`${app.url}/`, html)
    expect([status, body]).to.deep.equal([200, 'the page'])
    expect(headers).to.include({ 'x-page': 'yes', etag: '"a"', vary: 'Accept, Accept-Encoding' })
  })

  for (const accept of ['*/*', 'application/json', 'text/*', 'text/html;q=0', 'text/htmlx', '']) {
    it(`is not found by a client that accepts ${accept || 'nothing'}`, async () => {
      await using app = await run(withPage)
      const { status, body } = await get(`${app.url}/`, { accept })
      expect(status).to.equal(404)
      expect(JSON.parse(body)).to.deep.equal({
        statusCode: 404,
        error: 'Not Found',
        message: 'Not Found',
      })
    })
  }

  it('is not found where there is none', async () => {
    await using app = await run({})
    expect((await get(`${app.url}/`, html)).status).to.equal(404)
    expect((await get(`${app.url}/assets/index-1.js`, html)).status).to.equal(404)
  })

  it('brings its assets, whatever a client accepts', async () => {
    await using app = await run(withPage)
    const { status, body } = await get(`${app.url}/assets/index-1.js`)
    expect([status, body]).to.deep.equal([200, 'a script'])
  })

  it('has no other assets', async () => {
    await using app = await run(withPage)
    for (const path of ['index-2.js', '', '..%2F', 'toString']) {
      const { status, body } = await get(`${app.url}/assets/${path}`, html)
      expect([status, JSON.parse(body)], path).to.have.nested.property('[1].statusCode', 404)
    }
  })

  it('is sent in the smallest encoding that a client accepts', async () => {
    await using app = await run(withPage)
    const encoded = async (accepted: string) => {
      const answer = await get(`${app.url}/`, { ...html, 'accept-encoding': accepted })
      return [answer.headers['content-encoding'], answer.headers.etag, answer.body]
    }
    expect(await encoded('gzip, deflate, br, zstd')).to.deep.equal([
      'br',
      '"a.br"',
      'the page in br',
    ])
    expect(await encoded('gzip')).to.deep.equal(['gzip', '"a.gz"', 'the page in gzip'])
    expect(await encoded('br;q=0, identity')).to.deep.equal([undefined, '"a"', 'the page'])
  })

  it('is not sent again to a client that has it', async () => {
    await using app = await run(withPage)
    const { status, body } = await get(`${app.url}/`, { ...html, 'if-none-match': '"a"' })
    expect([status, body]).to.deep.equal([304, ''])
  })

  it('answers HEAD without the content', async () => {
    await using app = await run(withPage)
    const { status, headers, body } = await get(`${app.url}/`, html, 'HEAD')
    expect([status, headers['content-length'], body]).to.deep.equal([200, '8', ''])
  })

  it('knows no other method', async () => {
    await using app = await run(withPage)
    expect((await get(`${app.url}/`, html, 'POST')).status).to.equal(404)
  })

  it('is opened when it is first asked for, and once', async () => {
    let times = 0
    const web = async () => {
      times += 1
      return page
    }
    await using app = await run({ web })
    await get(`${app.url}/ping`)
    expect(times).to.equal(0)
    await Promise.all([get(`${app.url}/`, html), get(`${app.url}/`, html)])
    expect(times).to.equal(1)
  })

  it('is tried again after it could not be opened', async () => {
    let times = 0
    const web = async () => {
      times += 1
      if (times === 1) throw new Error('no file')
      return page
    }
    await using app = await run({ web })
    expect((await get(`${app.url}/`, html)).status).to.equal(500)
    expect((await get(`${app.url}/`, html)).status).to.equal(200)
  })

  it('lies below the prefix of a router, and leaves other paths to the application', async () => {
    const koa = new Koa()
    koa.use(createRouter(service(), { ...withPage, prefix: '/files' }).routes())
    koa.use((ctx) => {
      ctx.body = 'mine'
    })
    await using app = await listen(createHttpServer(koa))
    expect((await get(`${app.url}/files/`, html)).body).to.equal('the page')
    expect((await get(`${app.url}/files/assets/index-1.js`, html)).body).to.equal('a script')
    expect((await get(`${app.url}/files/`)).body).to.equal('mine')
    expect((await get(`${app.url}/`, html)).body).to.equal('mine')
  })
})
