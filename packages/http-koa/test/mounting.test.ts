import { createServer } from 'node:http'
import { createFileService, FileServiceError } from '@holdfast/core'
import { createMemoryBlobStore } from '@holdfast/core/memory'
import { expect } from 'chai'
import Koa from 'koa'
import { exchange } from '@holdfast/testing'
import {
  createApp,
  createAuthentication,
  createRouter,
  HttpProblem,
  type Authenticate,
} from '../src/index.ts'
import type { HoldfastState } from '../src/index.ts'
import { expectError } from './support/expect-error.ts'
import { listen } from './support/listening.ts'
import { form, formType, filePart, request } from './support/request.ts'

const service = () => createFileService({ store: createMemoryBlobStore() })

/** Knows customers by a cookie, as somebody's application might. */
function bySession(files: ReturnType<typeof service>): Authenticate {
  return async ({ headers }) => {
    const [, name] = /^session=(\w+)$/.exec(headers.cookie ?? '') ?? []
    if (name === undefined) throw new FileServiceError('invalid-credentials', 'No session')
    return files.filesOf({ name })
  }
}

const session = { Cookie: 'session=anna' }

/** Somebody's application, with the routes of the service below /files. */
function createForeignApp(): Koa<HoldfastState> {
  const files = service()
  const app = new Koa<HoldfastState>()
  app.silent = true
  app.use(async (ctx, next) => {
    ctx.set('X-App', 'somebody')
    await next()
  })
  const authenticate = bySession(files)
  app.use(createRouter(files, { prefix: '/files', authenticate }).routes())
  app.use(async (ctx) => {
    if (ctx.path === '/fails') throw new Error('of the application')
    ctx.body = `app: ${ctx.method} ${ctx.path}`
  })
  return app
}

describe('createRouter', () => {
  it('refuses what may mean another request, on a server that is not ours, too', async () => {
    await using app = await listen(createServer(createForeignAppCallback()))
    const put = (target: string, headers = {}, body = 'body') =>
      exchange(app.port, request('PUT', target, { ...session, ...headers }, body))
    const inChunks = { 'Transfer-Encoding': 'gzip, chunked', 'Content-Length': '' }
    expect((await put('/files/upload/a')).body).to.equal('OK')
    const head = request('PUT', '/files/upload/b', { ...session, ...inChunks }).toString('latin1')
    const answers = [
      await put('/files/upload/a#b'),
      await put('/files/upload/b', { Host: 'a b' }),
      await exchange(app.port, request('DELETE', '/files/delete/a#b', session)),
      await exchange(app.port, `${head.replace('Content-Length: \r\n', '')}4\r\nbody\r\n0\r\n\r\n`),
      await exchange(app.port, 'GET /files/ping HTTP/2.0\r\nHost: a\r\n\r\n'),
    ]
    for (const answer of answers) expectError(answer)
    expect(answers.map(({ status }) => status)).to.deep.equal([400, 400, 400, 501, 505])
    const list = await exchange(app.port, request('GET', '/files/list', session))
    expect(list.body).to.include('["a"]')
  })

  it('works under a prefix, with the authentication of the application', async () => {
    await using app = await listen(createServer(createForeignAppCallback()))
    const send = (method: string, path: string, headers = {}, body = '') =>
      exchange(app.port, request(method, path, { ...session, ...headers }, body))
    expect((await send('GET', '/files/ping')).body).to.equal('pong')
    expect((await send('PUT', '/files/upload/a.txt', {}, 'body')).body).to.equal('OK')
    const upload = form(filePart('b.txt', 'of a form'))
    expect(
      (await send('POST', '/files/upload', { 'Content-Type': formType }, upload)).body,
    ).to.equal('OK')
    expect((await send('GET', '/files/list')).body).to.include('["a.txt","b.txt"]')
    expect((await send('GET', '/files/serve/b.txt')).body).to.equal('of a form')
    expect((await send('GET', '/files/serve/a.txt')).headers.get('x-app')).to.equal('somebody')
    expect((await send('DELETE', '/files/delete/a.txt')).body).to.equal('OK')
    const others = { Cookie: 'session=ben' }
    expect((await send('GET', '/files/list', others)).body).to.include('No files uploaded yet')
  })

  it('answers its errors itself, in their form', async () => {
    await using app = await listen(createServer(createForeignAppCallback()))
    for (const [bytes, status] of [
      [request('GET', '/files/list'), 400],
      [request('GET', '/files/serve/none', session), 400],
      [request('GET', '/files/serve/%ZZ', session), 400],
      [request('PUT', '/files/list', session, 'body'), 405],
      [request('POST', '/files/upload', { ...session, 'Content-Type': formType }, 'no form'), 400],
    ] as const) {
      const answer = await exchange(app.port, bytes)
      expectError(answer)
      expect(answer.status).to.equal(status)
    }
  })

  it("answers with the application's own refusal, and reports it to its audit trail", async () => {
    const reasons: unknown[] = []
    const router = createRouter(service(), {
      prefix: '/files',
      async authenticate() {
        throw new HttpProblem('no-session', 401, 'Log in first', { 'WWW-Authenticate': 'Session' })
      },
      audit: async ({ outcome, reason }) => void reasons.push([outcome, reason]),
    })
    const callback = new Koa().use(router.routes()).callback()
    await using app = await listen(createServer((req, res) => void callback(req, res)))
    const answer = await exchange(app.port, request('GET', '/files/list'))
    expect(answer.status).to.equal(401)
    expect(answer.headers.get('www-authenticate')).to.equal('Session')
    expect(JSON.parse(answer.body)).to.deep.equal({
      statusCode: 401,
      error: 'Unauthorized',
      message: 'Log in first',
    })
    expect(reasons).to.deep.equal([['refused', 'no-session']])
  })

  it('leaves everything else to the application', async () => {
    await using app = await listen(createServer(createForeignAppCallback()))
    for (const path of [
      '/',
      '/ping',
      '/list',
      '/files',
      '/files/',
      '/files/unknown',
      '/filesystem/list',
    ]) {
      expect((await exchange(app.port, request('GET', path))).body).to.equal(`app: GET ${path}`)
    }
    const failed = await exchange(app.port, request('GET', '/fails'))
    expect([failed.status, failed.body]).to.deep.equal([500, 'Internal Server Error'])
  })
})

function createForeignAppCallback() {
  const callback = createForeignApp().callback()
  return (...args: Parameters<typeof callback>) => void callback(...args)
}

describe('createApp', () => {
  it('works on a server of Node at a path', async () => {
    const files = service()
    const callback = createApp(files, {
      prefix: '/storage',
      authenticate: bySession(files),
    }).callback()
    const server = createServer((req, res) => {
      if (req.url?.startsWith('/storage/')) void callback(req, res)
      else res.end('elsewhere')
    })
    await using app = await listen(server)
    const other = await fetch(`${app.url}/ping`)
    expect(await other.text()).to.equal('elsewhere')
    const put = await fetch(`${app.url}/storage/upload/a`, {
      method: 'PUT',
      headers: session,
      body: 'body',
    })
    expect(await put.text()).to.equal('OK')
    const served = await fetch(`${app.url}/storage/serve/a`, { headers: session })
    expect(await served.text()).to.equal('body')
  })

  it('survives on a server of Node what createHttpServer would have refused', async () => {
    const files = service()
    const callback = createApp(files).callback()
    await using app = await listen(createServer((req, res) => void callback(req, res)))
    const warnings: Error[] = []
    const note = (warning: Error) => void warnings.push(warning)
    process.on('warning', note)
    const token = 'anna.1.secret'
    const broken = `GET http://[::1/serve/a?link=${token} HTTP/1.1`
    const answer = await exchange(app.port, `${broken}\r\nHost: a\r\n\r\n`)
    // Node emits warnings in a later turn.
    await new Promise((resolve) => setImmediate(resolve))
    process.off('warning', note)
    expectError(answer)
    expect(answer.status).to.equal(400)
    expect(warnings.map(({ message }) => message).join()).to.not.include(token)
    for (const [target, status] of [
      ['http://%@a/ping', 400],
      ['http://[V1.A;]/ping', 200],
      ['http://[fe80::1%251]/ping#x', 400],
    ] as const) {
      const { status: found } = await exchange(app.port, request('GET', target))
      expect(found, target).to.equal(status)
    }
    const expecting = { ...session, Expect: '100-continue', 'Content-Length': 4 }
    const refused = await exchange(app.port, request('PUT', '/upload/a', expecting, 'body'))
    expect(refused.status).to.equal(100)
  })
})

describe('createAuthentication', () => {
  it("guards an application's own route, and gives it the customer's files", async () => {
    const files = service()
    const app = new Koa<HoldfastState>()
    app.silent = true
    app.use(createAuthentication(bySession(files)))
    app.use(async (ctx) => {
      const anna = ctx.state.files!
      await anna.upload('note', new Blob(['x']).stream())
      ctx.body = anna.customer.name
    })
    const callback = app.callback()
    await using server = await listen(createServer((req, res) => void callback(req, res)))
    expect((await exchange(server.port, request('GET', '/', session))).body).to.equal('anna')
    expect((await exchange(server.port, request('GET', '/'))).status).to.equal(500)
    expect((await files.filesOf({ name: 'anna' }).stat('note')).size).to.equal(1)
  })
})
