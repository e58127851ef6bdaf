import { createHmac } from 'node:crypto'
import { createFileService } from '@holdfast/core'
import { createMemoryBlobStore, createMemoryCredentialSource } from '@holdfast/core/memory'
import { exchange, openConnection, until } from '@holdfast/testing'
import { expect } from 'chai'
import Koa from 'koa'
import type { AuditEvent } from '../../src/guards/audit.ts'
import { createRouter } from '../../src/app.ts'
import { createHttpServer } from '../../src/server/http-server.ts'
import { listen } from '../support/listening.ts'
import { customerRequest, request } from '../support/request.ts'
import { auth, runApp, type RunningApp } from '../support/running-app.ts'
import { recordSlots } from '../support/watched-counters.ts'

const linkOf = (body: string) => (JSON.parse(body) as { readonly url: string }).url

describe('links over HTTP', () => {
  it('are not there where the application turns them off', async () => {
    await using app = await runApp({ links: false })
    await app.files.upload('a', 'a')
    const answer = await exchange(app.port, customerRequest('POST', '/link/a'))
    expect(answer.status).to.equal(404)
  })

  it('have the path of the application around the routes in them', async () => {
    const credentials = createMemoryCredentialSource([{ name: 'demo', passwordHash: 'sesame' }])
    const service = createFileService({
      store: createMemoryBlobStore(),
      credentials,
      verifyPassword: (password, hash) => password === hash,
      links: { createSignature: (key) => createHmac('sha256', key) },
    })
    await service.filesOf({ name: 'demo' }).upload('a b', 'content')
    const app = new Koa().use(createRouter(service, { prefix: '/files/v1' }).routes())
    await using server = await listen(createHttpServer(app))
    const made = await fetch(`${server.url}/files/v1/link/a%20b?x=/link/y`, {
      method: 'POST',
      headers: auth,
    })
    const link = linkOf(await made.text())
    expect(link.startsWith(`${server.url}/files/v1/serve/a%20b?link=`)).to.equal(true)
    expect(await (await fetch(link)).text()).to.equal('content')
  })

  it('are made of a body that comes in pieces, and not of one that breaks off', async () => {
    await using app = await runApp()
    await app.files.upload('a', 'a')
    const chunked = { 'Transfer-Encoding': 'chunked' }
    const head = customerRequest('POST', '/link/a', chunked)
    using whole = await openConnection(app.port)
    whole.write(head, '9\r\n{"inline"\r\n', '6\r\n:true}\r\n0\r\n\r\n')
    expect((await whole.answer()).status).to.equal(200)
    using cut = await openConnection(app.port)
    cut.write(customerRequest('POST', '/link/a', { 'Content-Length': 9 }), '{"inline"')
    expect((await cut.answer()).status).to.equal(400)
  })

  it('have slots of their own under way, so that they cannot keep the customer out', async () => {
    const { taken, requestCounters } = recordSlots()
    await using app = await runApp({ requestCounters })
    await app.files.upload('a', 'a')
    const made = await fetch(`${app.url}/link/a`, { method: 'POST', headers: auth })
    await (await fetch(linkOf(await made.text()))).text()
    const ofCustomer = ['all', 'perCustomer demo']
    const byLink = ['all', 'byLinks', 'byLinksPerCustomer demo', 'byLinksPerNetwork 127.0.0.1']
    expect(taken).to.deep.equal([...ofCustomer, ...byLink])
  })

  it('are reported as used by a link', async () => {
    const reported: (readonly [string, boolean, string | undefined])[] = []
    await using app = await runApp({
      onAnswered: ({ route, isByLink, code }) => void reported.push([route, isByLink, code]),
    })
    await app.files.upload('a', 'a')
    const made = await fetch(`${app.url}/link/a`, { method: 'POST', headers: auth })
    const link = linkOf(await made.text())
    await (await fetch(link)).text()
    await (await fetch(`${link}0`)).text()
    await until('all are reported', () => reported.length === 3)
    expect(reported).to.deep.equal([
      ['link', false, undefined],
      ['serve', true, undefined],
      ['serve', false, 'link-refused'],
    ])
  })

  it('give no page a script, a style or a module, which a policy of the same origin would allow', async () => {
    await using app = await runApp()
    for (const name of ['x.js', 'x.mjs', 'x.JS', 'x.css', 'x.wasm', 'x.json', 'x.map']) {
      await app.files.upload(name, 'alert(1)')
      const made = await fetch(`${app.url}/link/${name}`, { method: 'POST', headers: auth })
      const link = linkOf(await made.text())
      for (const method of ['GET', 'HEAD']) {
        const { headers } = await fetch(link, { method })
        expect(headers.get('content-type'), name).to.equal('application/octet-stream')
        expect(headers.get('x-content-type-options')).to.equal('nosniff')
      }
      const own = await fetch(`${app.url}/serve/${name}`, { headers: auth })
      expect(own.headers.get('content-type'), name).to.not.equal('application/octet-stream')
    }
  })

  it('open nothing in a request that is written in another way, and are in no line of the log', async () => {
    await using app = await runApp()
    for (const name of ['a', 'a b', '%41', 'A']) await app.files.upload(name, name)
    const made = await fetch(`${app.url}/link/a`, { method: 'POST', headers: auth })
    const query = new URL(linkOf(await made.text())).search
    const statuses: [string, number][] = []
    const targets: Readonly<Record<string, number>> = {
      [`/serve/a${query}`]: 200,
      [`http://service.test/serve/a${query}`]: 200,
      [`/serve/%61${query}`]: 200,
      [`/serve/a?x=1&${query.slice(1)}&after=b`]: 200,
      [`/serve/%2561${query}`]: 403,
      [`/serve/b%2F..%2Fa${query}`]: 403,
      [`/serve/a%00${query}`]: 403,
      [`/serve/a%ff${query}`]: 403,
      [`/serve/${'a'.repeat(8000)}${query}`]: 403,
      [`/serve/a${query}&${query.slice(1)}`]: 403,
      [`/serve/a${query}%20`]: 403,
      [`/serve/a${query}#`]: 400,
      [`/serve/a${query.replace('link', 'LINK')}`]: 400,
      [`/serve${query}`]: 400,
      [`/serve/${query}`]: 400,
      [`/serve/a/${query}`]: 404,
      [`/serve//a${query}`]: 404,
      [`//serve/a${query}`]: 404,
      [`/serve/../serve/a${query}`]: 404,
      [`/serve/a;x${query}`]: 403,
    }
    for (const target of Object.keys(targets)) {
      const { status } = await exchange(app.port, request('GET', target))
      statuses.push([target, status])
    }
    expect(statuses).to.deep.equal(Object.entries(targets))
    await until('the last is logged', () =>
      app.log.lines.some(({ fields }) => fields['path'] === '/serve/a;x'),
    )
    expect(JSON.stringify(app.log.lines)).to.not.include(query.slice(-64))
  })

  it('answer OPTIONS as without them, and are hidden from the log whatever a proxy forwards', async () => {
    await using app = await runApp({ trustedProxies: ['127.0.0.1'] })
    await app.files.upload('a', 'a')
    const forwarded = {
      'X-Forwarded-For': '203.0.113.7',
      'X-Forwarded-Proto': 'https',
      'X-Forwarded-Host': 'files.example',
      'X-Forwarded-Prefix': '/of/us',
    }
    const made = await exchange(app.port, customerRequest('POST', '/link/a', forwarded))
    const { origin, pathname, search } = new URL(linkOf(made.body))
    expect(origin + pathname).to.equal('https://files.example/of/us/serve/a')
    const options = await exchange(app.port, request('OPTIONS', `/serve/a${search}x`))
    expect([options.status, options.headers.get('allow')]).to.deep.equal([
      204,
      'GET, HEAD, OPTIONS',
    ])
    const headers = {
      ...forwarded,
      'X-Forwarded-Uri': `/serve/a${search}`,
      Referer: `https://files.example/serve/a${search}`,
    }
    const used = await exchange(app.port, request('GET', `/serve/a${search}`, headers))
    expect(used.status).to.equal(200)
    await until('all are logged', () => app.log.lines.length === 3)
    expect(app.log.lines.at(-1)?.fields).to.include({ address: '203.0.113.7', path: '/serve/a' })
    expect(JSON.stringify(app.log.lines)).to.not.include(search.slice(-64))
  })
})

describe('links to upload over HTTP', () => {
  const make = async (app: RunningApp, name: string, wishes = {}) => {
    const body = JSON.stringify({ verb: 'upload', ...wishes })
    const made = await fetch(`${app.url}/link/${name}`, { method: 'POST', headers: auth, body })
    return linkOf(await made.text())
  }

  it('are for whole files, where the draft is known, too', async () => {
    await using app = await runApp({ resumableDraft: true })
    const link = await make(app, 'a')
    const put = async (complete: string) => {
      const headers = { 'upload-draft-interop-version': '8', 'upload-complete': complete }
      return fetch(link, { method: 'PUT', body: 'x', headers })
    }
    expect((await put('?0')).status).to.equal(400)
    const whole = await put('?1')
    expect([whole.status, whole.headers.get('location')]).to.deep.equal([200, null])
    expect(await app.names()).to.deep.equal(['a'])
    const unfinished = await app.files.usage()
    expect(unfinished.unfinished.uploads).to.equal(0)
  })

  it('are refused for a batch, whoever follows them', async () => {
    const events: AuditEvent[] = []
    await using app = await runApp({
      audit: async (event) => {
        events.push(event)
      },
    })
    const link = await make(app, 'batch')
    for (const headers of [{}, auth]) {
      const body = new FormData()
      body.append('file', new File(['x'], 'x'))
      const answer = await fetch(link, { method: 'POST', headers, body })
      expect(answer.status).to.equal(403)
      expect(await answer.json()).to.include({ message: 'The link is wrong, or has expired' })
    }
    expect(await app.names()).to.deep.equal([])
    expect(events.slice(1).map(({ reason, isByLink }) => [reason, isByLink])).to.deep.equal([
      ['link-refused', true],
      ['link-refused', true],
    ])
    expect((await fetch(link, { method: 'PUT', body: 'x' })).status).to.equal(200)
    expect(await app.names()).to.deep.equal(['batch'])
  })

  it('are not there where the application turns links off', async () => {
    await using app = await runApp({ links: false })
    const target = `${app.url}/upload/a?link=x`
    expect((await fetch(target, { method: 'PUT', body: 'x' })).status).to.equal(400)
    const post = await fetch(target, { method: 'POST', body: 'x' })
    expect([post.status, post.headers.get('allow')]).to.deep.equal([405, 'PUT, OPTIONS'])
  })

  it('have slots of their own under way, and are reported and recorded as what they are', async () => {
    const reported: unknown[] = []
    const events: AuditEvent[] = []
    const { taken, requestCounters } = recordSlots()
    await using app = await runApp({
      requestCounters,
      onAnswered: ({ route, isByLink, customer }) =>
        void reported.push([route, isByLink, customer]),
      audit: async (event) => {
        events.push(event)
      },
    })
    const link = await make(app, 'in-', { prefix: true })
    const named = link.replace('in-?', 'in-1?')
    const put = async (url: string) => (await fetch(url, { method: 'PUT', body: 'x' })).text()
    await put(named)
    await put(named)
    await put(`${named}0`)
    const body = new FormData()
    body.append('file', new File(['xy'], '2'))
    await (await fetch(link, { method: 'POST', body })).text()
    expect(taken.filter((key) => key.endsWith('demo'))).to.deep.equal([
      'perCustomer demo',
      ...Array.from({ length: 3 }, () => 'byLinksPerCustomer demo'),
    ])
    await until('all are reported', () => reported.length === 5)
    expect(reported).to.deep.equal([
      ['link', false, 'demo'],
      ['put', true, 'demo'],
      ['put', true, 'demo'],
      ['put', false, undefined],
      ['upload', true, 'demo'],
    ])
    const shown = events.map(({ event, outcome, reason, customer, file, bytes, isByLink }) =>
      [event, outcome, reason, customer, file, bytes, isByLink].join(),
    )
    expect(shown).to.deep.equal([
      'upload-link,ok,,demo,in-,,',
      'upload,ok,,demo,in-1,1,true',
      'upload,refused,already-exists,demo,in-1,,true',
      'upload,refused,link-refused,,in-1,,true',
      'upload,ok,,demo,in-2,2,true',
    ])
  })
})
