import { createServer } from 'node:http'
import { createFileService, FileServiceError, type BlobStore } from '@holdfast/core'
import { createMemoryBlobStore } from '@holdfast/core/memory'
import { expect } from 'chai'
import Koa from 'koa'
import { exchange, openConnection, until } from '@holdfast/testing'
import { createAccessLog, createRouter, type AnsweredRequest } from '../../src/index.ts'
import { collectLog } from '../support/collected-log.ts'
import { generateStore } from '../support/generated-store.ts'
import { listen } from '../support/listening.ts'
import {
  customerRequest,
  filePart,
  form,
  formRequest,
  formType,
  request,
} from '../support/request.ts'
import { auth, runApp, type RunOptions } from '../support/running-app.ts'

/** An application, and what it has told of requests. */
async function runWatched(options: RunOptions = {}) {
  const told: AnsweredRequest[] = []
  const app = await runApp({ ...options, onAnswered: (answered) => void told.push(answered) })
  /** What is told of a request. */
  const ask = async (bytes: Buffer) => {
    const before = told.length
    using connection = await openConnection(app.port)
    connection.write(bytes)
    await until('it is told', () => told.length > before)
    return told[before]
  }
  return { app, told, ask, [Symbol.asyncDispose]: () => app[Symbol.asyncDispose]() }
}

describe('onAnswered', () => {
  it('gets the route that has taken a request', async () => {
    await using watched = await runWatched({ keepReplacedMs: 60_000 })
    const batch = { 'Content-Type': formType }
    const requests: readonly [Buffer, string, number][] = [
      [formRequest(form(filePart('a.txt'))), 'upload', 200],
      [customerRequest('PUT', '/upload/b.txt', {}, 'body'), 'put', 200],
      [customerRequest('PUT', '/upload/', {}, 'body'), 'put', 400],
      [customerRequest('POST', '/upload/batch', batch, form(filePart('c'))), 'batch', 200],
      [customerRequest('PUT', '/upload/batch', {}, 'body'), 'put', 200],
      [customerRequest('GET', '/serve/b.txt'), 'serve', 200],
      [customerRequest('HEAD', '/serve/b.txt'), 'serve', 200],
      [customerRequest('GET', '/serve/none'), 'serve', 400],
      [customerRequest('GET', '/list'), 'list', 200],
      [customerRequest('DELETE', '/delete/b.txt'), 'delete', 200],
      [customerRequest('POST', '/delete/batch', {}, '["c"]'), 'delete-batch', 200],
      [customerRequest('POST', '/serve/batch', {}, '["c"]'), 'serve-batch', 200],
      [customerRequest('DELETE', '/delete/batch'), 'delete', 200],
      [customerRequest('PUT', '/upload/d', {}, 'body'), 'put', 200],
      [customerRequest('POST', '/rename/d', {}, '{"to":"e"}'), 'rename', 200],
      [customerRequest('POST', '/rename/d', {}, '{"to":"e"}'), 'rename', 400],
      [customerRequest('GET', '/versions/b.txt'), 'versions', 200],
      [customerRequest('GET', '/versions/none'), 'versions', 404],
      [customerRequest('HEAD', '/deleted'), 'deleted', 200],
      [customerRequest('POST', '/restore/b.txt', {}, ''), 'restore', 200],
      [customerRequest('DELETE', '/links'), 'revoke-links', 200],
      [request('GET', '/ping'), 'ping', 200],
      [request('DELETE', '/ping'), 'other', 405],
      [request('OPTIONS', '/list'), 'other', 204],
      [request('GET', '/nowhere'), 'other', 404],
    ]
    for (const [bytes, route, status] of requests) {
      expect(await watched.ask(bytes), bytes.toString()).to.include({ route, status })
    }
  })

  it('gets small files that are answered before the application', async () => {
    const store = createMemoryBlobStore()
    const open: BlobStore['open'] = async (key, options) => {
      const blob = await store.open(key, options)
      return blob && { ...blob, bytes: Buffer.from('small') }
    }
    await using watched = await runWatched({ store: { ...store, open } })
    await watched.ask(customerRequest('PUT', '/upload/small.txt', {}, 'small'))
    expect(await watched.ask(customerRequest('GET', '/serve/small.txt'))).to.include({
      route: 'serve',
      method: 'GET',
      path: '/serve/small.txt',
      status: 200,
      isAborted: false,
      customer: 'demo',
    })
  })

  it('gets the reason why a request was refused, by its code', async () => {
    await using watched = await runWatched({ maxFileSize: 3 })
    const codes: readonly [Buffer, string | undefined][] = [
      [request('GET', '/list'), 'missing-credentials'],
      [request('GET', '/list', { ...auth, 'x-auth-password': 'no' }), 'invalid-credentials'],
      [customerRequest('PUT', '/upload/a', {}, 'four'), 'file-too-large'],
      [customerRequest('PUT', '/upload/a', {}, 'ok'), undefined],
      [formRequest(form()), 'no-file'],
      [request('GET', '/nowhere'), 'unknown-path'],
    ]
    for (const [bytes, code] of codes) {
      expect((await watched.ask(bytes))?.code, bytes.toString()).to.equal(code)
    }
  })

  it('gets a fault as one without a code', async () => {
    const store = createMemoryBlobStore()
    const failing = { ...store, stat: async () => Promise.reject(new Error('EIO')) }
    await using watched = await runWatched({ store: failing })
    const answered = await watched.ask(customerRequest('HEAD', '/serve/a'))
    expect(answered).to.include({ status: 500, code: 'unexpected', reason: 'EIO' })
  })

  it('gets answers that the client did not get, once', async () => {
    await using watched = await runWatched({ store: generateStore({ size: 2 ** 30 }) })
    using connection = await openConnection(watched.app.port)
    connection.write(customerRequest('GET', '/serve/large'))
    await until('the answer began', () => connection.received().length > 0)
    connection.reset()
    await until('it is told', () => watched.told.length > 0)
    expect(watched.told).to.have.length(1)
    expect(watched.told[0]).to.include({ route: 'serve', status: 200, isAborted: true })
  })

  it('may fail: that is a line in the log, and the request is answered', async () => {
    await using app = await runApp({
      onAnswered() {
        throw new Error('of the application')
      },
    })
    await exchange(app.port, request('GET', '/ping', { 'X-Request-Id': 'watched' }))
    await until('it is logged', () => app.log.lines.length === 2)
    expect(app.log.lines.map(({ message }) => message)).to.deep.equal([
      'request',
      'onAnswered failed',
    ])
    expect(app.log.lines[1]?.fields).to.include({ requestId: 'watched' })
    expect((await exchange(app.port, request('GET', '/ping'))).body).to.equal('pong')
  })

  it('gets only its own paths from a router in another application', async () => {
    const told: AnsweredRequest[] = []
    const service = createFileService({ store: createMemoryBlobStore() })
    const app = new Koa()
    app.use(
      createRouter(service, {
        prefix: '/files',
        authenticate: async ({ headers }) => {
          if (headers.cookie === undefined) {
            throw new FileServiceError('invalid-credentials', 'No session')
          }
          return service.filesOf({ name: 'anna' })
        },
        onAnswered: (answered) => void told.push(answered),
      }).routes(),
    )
    app.use((ctx) => void (ctx.body = 'elsewhere'))
    const callback = app.callback()
    await using server = await listen(createServer((...both) => void callback(...both)))
    await exchange(server.port, request('GET', '/elsewhere'))
    await exchange(server.port, request('GET', '/files/list'))
    await exchange(server.port, request('PUT', '/files/upload/a', { Cookie: 's=1' }, 'body'))
    await until('both are told', () => told.length === 2)
    expect(told[0]).to.include({ route: 'list', status: 400, code: 'invalid-credentials' })
    expect(told[0]?.customer).to.equal(undefined)
    expect(told[1]).to.include({ route: 'put', status: 200, customer: 'anna', isAborted: false })
    expect(told[1]?.path).to.equal('/files/upload/a')
  })
  it('is called by a router behind an access log, too, with the same figures', async () => {
    const reported: AnsweredRequest[] = []
    const log = collectLog()
    const service = createFileService({ store: createMemoryBlobStore() })
    const router = createRouter(service, { onAnswered: (answered) => void reported.push(answered) })
    const callback = new Koa().use(createAccessLog(log)).use(router.routes()).callback()
    await using server = await listen(createServer((...both) => void callback(...both)))
    await exchange(server.port, request('GET', '/ping'))
    await until('the request is logged', () => log.lines.length === 1)
    await until('the router has reported it', () => reported.length === 1)
    const { bytesIn, bytesOut } = log.lines[0]?.fields ?? {}
    expect(bytesIn).to.be.greaterThan(0)
    expect(reported[0]).to.include({ route: 'ping', status: 200, bytesIn, bytesOut })
  })
})
