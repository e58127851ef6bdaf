import { createMemoryBlobStore } from '@holdfast/core/memory'
import { expect } from 'chai'
import { exchange, openConnection, until } from '@holdfast/testing'
import { expectError } from '../support/expect-error.ts'
import { generateStore } from '../support/generated-store.ts'
import { customerRequest, request } from '../support/request.ts'
import { runApp } from '../support/running-app.ts'
import { createHttpServer } from '../../src/server/http-server.ts'

const expecting = { Expect: '100-continue', 'Content-Length': 4 }

describe('createHttpServer', () => {
  it('invites the body of an upload that it wants', async () => {
    await using app = await runApp()
    using connection = await openConnection(app.port, { staysOpen: true })
    connection.write(customerRequest('PUT', '/upload/a', expecting))
    await until('a 100 came', () => connection.received().includes('HTTP/1.1 100 Continue\r\n\r\n'))
    connection.write('body')
    await until('a 200 came', () => connection.received().includes('HTTP/1.1 200 OK'))
  })

  it('takes the path and the query of an absolute target, whatever its host is', async () => {
    await using app = await runApp()
    await app.files.upload('a', new Blob(['body']).stream())
    for (const host of ['a.test', 'a:99999999', 'a%00b', '[::1]', '[fe80::1%251]', '[V1.A;]']) {
      const answer = await exchange(app.port, customerRequest('GET', `http://${host}/serve/a?x=/`))
      expect([answer.status, answer.body], host).to.deep.equal([200, 'body'])
      expect(app.log.lines.at(-1)?.fields, host).to.include({ path: '/serve/a' })
      for (const rest of ['', '?x']) {
        const root = await exchange(app.port, request('GET', `http://${host}${rest}`))
        expect(root.status, host).to.equal(404)
      }
    }
  })

  it('refuses an upload that it does not want before the body is sent', async () => {
    await using app = await runApp({ maxFileSize: 3 })
    for (const [bytes, status] of [
      [request('PUT', '/upload/a', expecting), 400],
      [customerRequest('PUT', '/upload/..', expecting), 400],
      [customerRequest('PUT', '/upload/a', expecting), 413],
      [customerRequest('PUT', '/ping', expecting), 405],
      [customerRequest('POST', '/upload', expecting), 400],
    ] as const) {
      const answer = await exchange(app.port, bytes)
      expectError(answer)
      expect(answer.status).to.equal(status)
    }
  })

  it('answers a client that writes all of a large body before it reads', async () => {
    await using app = await runApp({ maxFileSize: 3 })
    const body = Buffer.alloc(4 * 1024 * 1024)
    const length = { 'Content-Length': body.length }
    for (const [head, status] of [
      [request('PUT', '/upload/a', length), 400],
      [customerRequest('PUT', '/upload/a', length), 413],
      [customerRequest('POST', '/nowhere', length), 404],
      [Buffer.from(`PUT /upload/a HTTP/1.1\r\nContent-Length: ${body.length}\r\n\r\n`), 400],
      [customerRequest('PUT', '/upload/a', { ...length, Expect: 'magic' }), 417],
    ] as const) {
      using connection = await openConnection(app.port, { staysOpen: true })
      connection.pause()
      connection.write(head)
      await new Promise<void>((resolve) => void connection.isTaken(body).then(() => resolve()))
      connection.resume()
      const answer = await connection.answer()
      expectError(answer)
      expect(answer.status).to.equal(status)
    }
  })

  it('goes on with the connection behind a refused small body', async () => {
    await using app = await runApp()
    using connection = await openConnection(app.port, { staysOpen: true })
    connection.write(request('PUT', '/upload/a', {}, 'x'.repeat(1_000)))
    connection.write(customerRequest('GET', '/ping'))
    await until('both were answered', () => connection.received().includes('pong'))
    expect(connection.received()).to.match(/^HTTP\/1\.1 400 [^]*HTTP\/1\.1 200 /)
  })

  it('says Connection: close in front of a large body that it does not read', async () => {
    await using app = await runApp()
    using connection = await openConnection(app.port, { staysOpen: true })
    connection.write(request('PUT', '/upload/a', { 'Content-Length': 2 ** 40 }))
    const { status, headers } = await connection.answer()
    expect([status, headers.get('connection')]).to.deep.equal([400, 'close'])
  })

  it('names the methods that there are to CONNECT', async () => {
    await using app = await runApp()
    const { status, headers } = await exchange(app.port, 'CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n')
    expect([status, headers.get('allow')]).to.deep.equal([
      405,
      'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS',
    ])
  })

  it('knows HTTP/1.0 without a host', async () => {
    await using app = await runApp()
    using connection = await openConnection(app.port, { staysOpen: true })
    connection.write('GET /ping HTTP/1.0\r\n\r\n')
    expect((await connection.answer()).body).to.equal('pong')
    await until('the connection ended', () => connection.isClosed())
  })

  for (const [title, refused] of [
    ['no host', 'GET /ping HTTP/1.1\r\n\r\n'],
    ['too many headers', request('GET', '/ping', { a: '\r\na: '.repeat(1_500) })],
    ['an unknown expectation', request('GET', '/ping', { Expect: 'magic' })],
    ['CONNECT', 'CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n'],
  ] as const) {
    it(`refuses ${title} in its turn, and processes nothing behind it`, async () => {
      const gate = Promise.withResolvers<undefined>()
      const store = generateStore({ size: 10, beforeOpen: () => gate.promise })
      await using app = await runApp({ store })
      using connection = await openConnection(app.port, { staysOpen: true })
      connection.write(customerRequest('GET', '/serve/a'))
      connection.write(refused)
      connection.write(customerRequest('DELETE', '/delete/a'))
      expect((await exchange(app.port, request('GET', '/ping'))).body).to.equal('pong')
      expect(connection.received()).to.equal('')
      gate.resolve(undefined)
      await until('the connection ended', () => connection.isClosed())
      const received = connection.received()
      expect(received.match(/HTTP\/1\.1 \d+/g)).to.have.length(2)
      expect(received).to.match(/^HTTP\/1\.1 200 [^]*x{10}HTTP\/1\.1 4\d\d [^]*}$/)
      expect(app.log.lines.map(({ fields }) => fields['method'])).to.deep.equal(['GET', 'GET'])
    })
  }
})

describe('createHttpServer with an idle timeout', () => {
  for (const idleTimeoutMs of [1, 1001, 45_001.5]) {
    it(`may be ${idleTimeoutMs} ms`, () => {
      expect(() =>
        createHttpServer({ callback: () => async () => {} }, { idleTimeoutMs }),
      ).not.to.throw()
    })
  }
})

describe('createHttpServer, for a CONNECT after requests that are still being answered,', () => {
  const both = Buffer.concat([
    customerRequest('GET', '/serve/a'),
    Buffer.from('CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n'),
  ])
  const size = 32 * 2 ** 20

  it('survives a client that resets the connection', async () => {
    const gate = Promise.withResolvers<undefined>()
    const store = generateStore({ size, beforeOpen: () => gate.promise })
    await using app = await runApp({ store })
    using connection = await openConnection(app.port)
    connection.write(both)
    expect((await exchange(app.port, request('GET', '/ping'))).body).to.equal('pong')
    connection.reset()
    expect((await exchange(app.port, request('GET', '/ping'))).body).to.equal('pong')
    gate.resolve(undefined)
    await until('the connection is gone', async () => (await app.connections()) === 0)
  })

  it('sends all of a large file first', async () => {
    await using app = await runApp({ store: generateStore({ size }) })
    using connection = await openConnection(app.port)
    let received = 0
    connection.socket.on('data', (chunk: Buffer) => (received += chunk.length))
    connection.write(both)
    await until('the connection ended', () => connection.isClosed())
    expect(received).to.be.greaterThan(size)
    expect(connection.received().slice(-1_000)).to.include('HTTP/1.1 405 Method Not Allowed')
  })

  it('sends all of a long list first', async () => {
    const names = Array.from({ length: 20_000 }, (_, index) => `${index}`.padStart(100, '0'))
    const store = createMemoryBlobStore()
    await using app = await runApp({
      store: {
        ...store,
        async *list() {
          for (let at = 0; at < names.length; at += 1_000) yield names.slice(at, at + 1_000)
        },
      },
      idleTimeoutMs: 5_000,
    })
    using connection = await openConnection(app.port)
    connection.write(
      Buffer.concat([
        customerRequest('GET', '/list'),
        Buffer.from('CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n'),
      ]),
    )
    await until('the connection ended', () => connection.isClosed())
    expect(connection.received()).to.include(names.at(-1))
    expect(connection.received().slice(-1_000)).to.include('HTTP/1.1 405 Method Not Allowed')
  })

  it('cuts a client that takes nothing', async () => {
    await using app = await runApp({ store: generateStore({ size }), idleTimeoutMs: 150 })
    using connection = await openConnection(app.port)
    connection.pause()
    connection.write(both)
    await until('the connection is gone', async () => (await app.connections()) === 0)
  })
})
