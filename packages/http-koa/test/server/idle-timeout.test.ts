import { connect } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { expect } from 'chai'
import { openConnection, until } from '@holdfast/testing'
import { expectError } from '../support/expect-error.ts'
import { generateStore } from '../support/generated-store.ts'
import { customerRequest, filePart, form, formRequest } from '../support/request.ts'
import { runApp } from '../support/running-app.ts'
import { watchStore } from '../support/watched-store.ts'

const idleTimeoutMs = 150

const stalled = {
  'a raw upload': customerRequest('PUT', '/upload/a', { 'Content-Length': 10 }, 'body'),
  'a raw upload that has not begun': customerRequest('PUT', '/upload/a', { 'Content-Length': 10 }),
  'a form': formRequest(form(filePart('a'))).subarray(0, -20),
  'a batch': customerRequest(
    'POST',
    '/upload/batch',
    { 'Content-Type': 'multipart/form-data; boundary=b', 'Content-Length': 100 },
    '--b\r\n',
  ),
  'names of files to delete': customerRequest(
    'POST',
    '/delete/batch',
    { 'Content-Length': 100 },
    '["a",',
  ),
  'a body that nobody reads': customerRequest('DELETE', '/delete/..', { 'Content-Length': 10 }),
}

describe('applyIdleTimeout', () => {
  for (const [title, bytes] of Object.entries(stalled)) {
    it(`cuts ${title} that stalls, and keeps nothing of it`, async () => {
      const store = watchStore()
      await using app = await runApp({ store, idleTimeoutMs })
      using connection = await openConnection(app.port, { staysOpen: true })
      connection.write(bytes)
      const answer = await connection.answer()
      expectError(answer)
      expect([400, 408]).to.include(answer.status)
      await until('the connection was cut', () => connection.isClosed())
      await until('the upload ended', () => store.puts() === 0)
      await until('it was forgotten', async () => (await app.connections()) === 0)
      expect(await app.names()).to.deep.equal([])
      await until('the request was logged', () => app.log.lines.length > 0)
      expect(app.log.lines.map(({ level }) => level)).to.deep.equal(['info'])
    })
  }

  it('says 408 to the client of a stalled upload', async () => {
    await using app = await runApp({ idleTimeoutMs })
    using connection = await openConnection(app.port, { staysOpen: true })
    connection.write(stalled['a raw upload'])
    const { status, body } = await connection.answer()
    expect(status).to.equal(408)
    expect(body).to.include('"message":"The client was idle for too long"')
  })

  it('lets an upload pass that is slow but moves', async () => {
    await using app = await runApp({ idleTimeoutMs })
    using connection = await openConnection(app.port, { staysOpen: true })
    connection.write(customerRequest('PUT', '/upload/slow', { 'Content-Length': 10 }))
    for (let i = 0; i < 10; i++) {
      await delay(idleTimeoutMs / 3)
      connection.write('x')
    }
    expect((await connection.answer()).status).to.equal(200)
    expect((await app.files.stat('slow')).size).to.equal(10)
  })

  it('refuses a head that trickles, on a new connection and on a used one', async () => {
    await using app = await runApp({ idleTimeoutMs })
    for (const before of ['', 'GET /ping HTTP/1.1\r\nHost: a\r\n\r\n']) {
      using connection = await openConnection(app.port, { staysOpen: true })
      connection.write(`${before}GET /list HTTP/1.1\r\n`)
      const trickle = setInterval(() => connection.write('a'), idleTimeoutMs / 10)
      await until('the connection was cut', () => connection.isClosed())
      clearInterval(trickle)
      expect(connection.received()).to.match(/HTTP\/1\.1 408 [^]*did not arrive in time"}$/)
    }
  })

  it('never cuts a client that waits for the store', async () => {
    const gate = Promise.withResolvers<undefined>()
    await using app = await runApp({ store: watchStore(() => gate.promise), idleTimeoutMs })
    using whole = await openConnection(app.port, { staysOpen: true })
    using endless = await openConnection(app.port, { staysOpen: true })
    whole.write(customerRequest('PUT', '/upload/whole', {}, 'body'))
    const content = Buffer.alloc(1024 * 1024)
    endless.write(customerRequest('PUT', '/upload/endless', { 'Content-Length': content.length }))
    endless.write(content)
    await delay(idleTimeoutMs * 4)
    expect(whole.received().length + endless.received().length).to.equal(0)
    gate.resolve(undefined)
    expect((await whole.answer()).status).to.equal(200)
    expect((await endless.answer()).status).to.equal(200)
  })

  it('never cuts a client that waits to be let to send', async () => {
    const gate = Promise.withResolvers<undefined>()
    const store = watchStore()
    const asked = { ...store, stat: async () => gate.promise }
    await using app = await runApp({ store: asked, idleTimeoutMs })
    using connection = await openConnection(app.port, { staysOpen: true })
    const headers = { Expect: '100-continue', 'If-None-Match': '*', 'Content-Length': 4 }
    connection.write(customerRequest('PUT', '/upload/a', headers))
    await delay(idleTimeoutMs * 4)
    expect(connection.received()).to.equal('')
    gate.resolve(undefined)
    await until('a 100 came', () => connection.received().includes('HTTP/1.1 100 Continue'))
    connection.write('body')
    await until('the file was stored', async () => (await app.names()).includes('a'))
  })

  it('never cuts a download that waits for the store', async () => {
    const gate = Promise.withResolvers<undefined>()
    const store = generateStore({ size: 10, beforeOpen: () => gate.promise })
    await using app = await runApp({ store, idleTimeoutMs })
    using connection = await openConnection(app.port, { staysOpen: true })
    connection.write(customerRequest('GET', '/serve/a'))
    await delay(idleTimeoutMs * 4)
    gate.resolve(undefined)
    expect((await connection.answer()).body).to.equal('x'.repeat(10))
  })

  it('waits for the store that long only for a client that may have left for good', async () => {
    const gate = Promise.withResolvers<undefined>()
    const store = watchStore(() => gate.promise)
    await using app = await runApp({ store, idleTimeoutMs })
    using connection = await openConnection(app.port, { staysOpen: true })
    connection.write(customerRequest('PUT', '/upload/a', {}, 'body'))
    await until('the store has the upload', () => store.puts() === 1)
    connection.halfClose()
    await until('the connection was cut', () => connection.isClosed())
    await until('it was logged as given up', () => app.log.lines.length === 1)
    expect(app.log.lines[0]?.fields).to.include({ aborted: true })
    gate.resolve(undefined)
    await until('the upload ended', () => store.puts() === 0)
  })

  it('cuts a download whose client takes nothing, and releases the file', async () => {
    const store = generateStore({ size: 2 ** 30 })
    await using app = await runApp({ store, idleTimeoutMs })
    using connection = await openConnection(app.port, { staysOpen: true })
    connection.pause()
    connection.write(customerRequest('GET', '/serve/large'))
    await until('the file was released', () => store.closed() === 1)
    await until('the connection was cut', async () => (await app.connections()) === 0)
    expect(store.pulled()).to.be.lessThan(2 ** 24)
  })

  it('lets a download pass that is slow but moves', async () => {
    const size = 24 * 1024 * 1024
    const store = generateStore({ size })
    await using app = await runApp({ store, idleTimeoutMs })
    using connection = await openConnection(app.port, { staysOpen: true })
    connection.write(customerRequest('GET', '/serve/large'))
    const begin = Date.now()
    while (Date.now() - begin < idleTimeoutMs * 4) {
      connection.pause()
      await delay(idleTimeoutMs / 3)
      connection.resume()
      await delay(1)
    }
    await until('all of it came', () => connection.received().length > size, 15_000)
  })

  it('lets a download pass that the client takes so slowly that the kernel has enough for long', async () => {
    const size = 16 * 1024 * 1024
    const idleTimeoutMs = 1000
    await using app = await runApp({ store: generateStore({ size }), idleTimeoutMs })
    const socket = connect(app.port, '127.0.0.1')
    let taken = 0
    const take = () => {
      const chunk = socket.read(Math.min(socket.readableLength, 64 * 1024)) as Buffer | null
      taken += chunk?.length ?? 0
    }
    socket.on('readable', () => {})
    socket.write(customerRequest('GET', '/serve/large'))
    const slowly = setInterval(take, 120)
    await delay(idleTimeoutMs * 5)
    clearInterval(slowly)
    socket.removeAllListeners('readable')
    socket.on('data', (chunk) => (taken += chunk.length))
    await until('all of it came', () => taken > size, 15_000)
    socket.destroy()
  })

  it('closes connections that are idle, without a word', async () => {
    await using app = await runApp({ idleTimeoutMs })
    using unused = await openConnection(app.port, { staysOpen: true })
    using used = await openConnection(app.port, { staysOpen: true })
    used.write(customerRequest('GET', '/ping'))
    const { body } = await used.answer()
    expect(body).to.equal('pong')
    await until('both were closed', () => unused.isClosed() && used.isClosed())
    expect(unused.received().length).to.equal(0)
    expect(used.unread()).to.have.length(0)
  })
})
