import { Readable } from 'node:stream'
import { FileServiceError, resolveRange } from '@holdfast/core'
import { createMemoryBlobStore } from '@holdfast/core/memory'
import { expect } from 'chai'
import { openConnection, until } from '@holdfast/testing'
import { errorBody } from '../../src/http/problems.ts'
import { generateStore } from '../support/generated-store.ts'
import { customerRequest } from '../support/request.ts'
import { auth, runApp } from '../support/running-app.ts'

const mebibyte = 1024 * 1024

describe('serve', () => {
  it('answers with the bytes that the store has already, and closes the file', async () => {
    const store = createMemoryBlobStore()
    let opened = 0
    const open: typeof store.open = async (key, { range: request } = {}) => {
      const blob = await store.open(key)
      const range = blob && resolveRange(request, blob.info.size)
      const bytes = Buffer.from('content').subarray(range?.offset).subarray(0, range?.length)
      const content = Readable.from([Buffer.from('not this')])
      const close = async () => {
        opened--
      }
      opened++
      return blob && { info: blob.info, range, bytes, content, close }
    }
    await using app = await runApp({ store: { ...store, open } })
    const url = `${app.url}/serve/file`
    await fetch(`${app.url}/upload/file`, { method: 'PUT', headers: auth, body: 'content' })
    const whole = await fetch(url, { headers: auth })
    expect([whole.status, await whole.text()]).to.deep.equal([200, 'content'])
    expect(whole.headers.get('content-length')).to.equal('7')
    expect(whole.headers.get('content-type')).to.equal('application/octet-stream')
    const part = await fetch(url, { headers: { ...auth, range: 'bytes=2-4' } })
    expect([part.status, await part.text()]).to.deep.equal([206, 'nte'])
    expect(part.headers.get('content-range')).to.equal('bytes 2-4/7')
    expect(opened).to.equal(0)
  })

  it('answers a range of an empty file with the whole of it', async () => {
    await using app = await runApp()
    const url = `${app.url}/serve/empty`
    await fetch(`${app.url}/upload/empty`, { method: 'PUT', headers: auth, body: '' })
    for (const method of ['GET', 'HEAD']) {
      for (const range of ['bytes=0-', 'bytes=0-9', 'bytes=-5']) {
        const answer = await fetch(url, { method, headers: { ...auth, range } })
        expect(answer.status, `${method} ${range}`).to.equal(200)
        expect(answer.headers.get('content-length')).to.equal('0')
        expect(answer.headers.get('content-range')).to.equal(null)
      }
    }
  })

  it('answers 416 to a range that is beyond an empty file', async () => {
    await using app = await runApp()
    await fetch(`${app.url}/upload/empty`, { method: 'PUT', headers: auth, body: '' })
    for (const range of ['bytes=7-9', 'bytes=1-', 'bytes=-0']) {
      const answer = await fetch(`${app.url}/serve/empty`, { headers: { ...auth, range } })
      expect(answer.status, range).to.equal(416)
      expect(answer.headers.get('content-range')).to.equal('bytes */0')
    }
  })

  it('gives the type of every file, whatever it is called', async () => {
    await using app = await runApp()
    for (const [name, type] of [
      ['a.txt', 'text/plain; charset=utf-8'],
      ['ä b.txt', 'text/plain; charset=utf-8'],
      ['a.none', 'application/octet-stream'],
      ['ä b.none', 'application/octet-stream'],
      ['ä', 'application/octet-stream'],
    ] as const) {
      const path = encodeURIComponent(name)
      await fetch(`${app.url}/upload/${path}`, { method: 'PUT', headers: auth, body: 'x' })
      for (const method of ['GET', 'HEAD']) {
        const answer = await fetch(`${app.url}/serve/${path}`, { method, headers: auth })
        expect(answer.headers.get('content-type'), `${method} ${name}`).to.equal(type)
      }
    }
  })

  it('reads no further ahead than the client takes', async () => {
    const store = generateStore({ size: 1024 * mebibyte })
    await using app = await runApp({ store })
    using connection = await openConnection(app.port)
    connection.pause()
    connection.write(customerRequest('GET', '/serve/large'))
    await until('the server stopped reading', async () => {
      const before = store.pulled()
      await new Promise((resolve) => setTimeout(resolve, 100))
      return before > 0 && store.pulled() === before
    })
    // What the kernel buffers on both sides of a local connection, and little more.
    expect(store.pulled()).to.be.lessThan(16 * mebibyte)
    expect(store.closed()).to.equal(0)
    connection.reset()
    await until('the file was released', () => store.closed() === 1)
  })

  it('releases the file of a client that leaves in the middle', async () => {
    const store = generateStore({ size: 1024 * mebibyte })
    await using app = await runApp({ store })
    const response = await fetch(`${app.url}/serve/large`, { headers: auth })
    const reader = response.body!.getReader()
    await reader.read()
    await reader.cancel()
    await until('the file was released', () => store.closed() === 1)
  })

  it('releases the file of a client that left before it was open', async () => {
    const gate = Promise.withResolvers<undefined>()
    let asked = false
    const beforeOpen = () => {
      asked = true
      return gate.promise
    }
    const store = generateStore({ size: 10 * mebibyte, beforeOpen })
    await using app = await runApp({ store })
    using connection = await openConnection(app.port)
    connection.write(customerRequest('GET', '/serve/large'))
    await until('the server opens the file', () => asked)
    connection.reset()
    await until('the connection ended', async () => (await app.connections()) === 0)
    gate.resolve(undefined)
    await until('the file was released', () => store.opened() === 1 && store.closed() === 1)
  })

  it('opens no file whose content is not wanted', async () => {
    const store = generateStore({ size: 10 })
    await using app = await runApp({ store })
    for (const [headers, status, opened] of [
      [{ 'If-None-Match': '"tag"' }, 304, 0],
      [{ 'If-Match': '"other"' }, 412, 0],
      [{ Range: 'bytes=0-1', 'If-Range': '"other"' }, 200, 1],
      [{ Range: 'bytes=0-1', 'If-Range': '"tag"' }, 206, 2],
    ] as const) {
      const response = await fetch(`${app.url}/serve/a`, { headers: { ...auth, ...headers } })
      await response.arrayBuffer()
      expect(response.status).to.equal(status)
      expect(store.opened(), `opened for ${status}`).to.equal(opened)
    }
    await until('all were released', () => store.closed() === 2)
  })

  it('releases a file that turns out not to be wanted once it is open', async () => {
    const store = generateStore({ size: 10 })
    // As if it had been replaced between the look and the opening.
    const stat = async () => ({ name: 'a', size: 10, modifiedAt: new Date(0), etag: 'older' })
    await using app = await runApp({ store: { ...store, stat } })
    for (const [headers, status] of [
      [{ 'If-None-Match': '"tag"' }, 304],
      [{ Range: 'bytes=0-1', 'If-Range': '"older"' }, 200],
    ] as const) {
      const response = await fetch(`${app.url}/serve/a`, { headers: { ...auth, ...headers } })
      await response.arrayBuffer()
      expect(response.status).to.equal(status)
    }
    expect(store.opened()).to.equal(3)
    await until('all were released', () => store.closed() === 3)
  })

  it('cuts the connection when the store fails on the way, and says so once in the log', async () => {
    const failure = new Error('The disk is on fire')
    const store = generateStore({ size: 10 * mebibyte, failure, failAfter: mebibyte })
    await using app = await runApp({ store })
    using connection = await openConnection(app.port)
    connection.write(customerRequest('GET', '/serve/large', { 'X-Request-Id': 'the-id' }))
    await until('the connection was cut', () => connection.isClosed())
    expect(connection.received()).to.include(`\r\nContent-Length: ${10 * mebibyte}\r\n`)
    expect(connection.received().length).to.be.lessThan(2 * mebibyte)
    await until('the request was logged', () => app.log.lines.length >= 2)
    const errors = app.log.lines.filter(({ level }) => level === 'error')
    expect(errors).to.deep.equal([
      {
        level: 'error',
        fields: { requestId: 'the-id', err: failure },
        message: 'The response was cut off',
      },
    ])
    const [line] = app.log.lines.filter(({ level }) => level === 'info')
    expect(line?.fields).to.include({ status: 200, aborted: true })
  })

  it('answers what fails at the first byte with 500, and says so once in the log', async () => {
    const failure = new Error('The disk is on fire')
    const store = generateStore({ size: 10, failure })
    await using app = await runApp({ store })
    for (const headers of [{}, { Range: 'bytes=1-' }]) {
      const response = await fetch(`${app.url}/serve/a`, { headers: { ...auth, ...headers } })
      expect([response.status, await response.json()]).to.deep.equal([
        500,
        errorBody(500, 'An unexpected error occurred'),
      ])
    }
    expect(store.closed()).to.equal(2)
    expect(app.log.lines.filter(({ level }) => level === 'error')).to.have.length(2)
  })

  it('answers what a stream fails with at its first byte', async () => {
    const failure = new FileServiceError('store-unavailable', 'The disk is on fire')
    const failing = () => new Readable({ read: () => content.destroy(failure) })
    let content = failing()
    const { open, ...store } = generateStore({ size: 10 })
    const openFailing = async (...args: Parameters<typeof open>) => ({
      ...(await open(...args))!,
      content: (content = failing()),
    })
    await using app = await runApp({ store: { ...store, open: openFailing } })
    const response = await fetch(`${app.url}/serve/a`, { headers: auth })
    expect(await response.json()).to.deep.equal(errorBody(503, 'Storage unavailable'))
    expect(response.headers.get('retry-after')).to.equal('5')
  })

  it('releases the file of a client that leaves before its first byte is there', async () => {
    const closing = Promise.withResolvers<never>()
    closing.promise.catch(() => {})
    let asked = false
    async function* stalled() {
      asked = true
      yield await closing.promise
    }
    const { open, ...store } = generateStore({ size: 10 })
    const openStalled = async (...args: Parameters<typeof open>) => ({
      ...(await open(...args))!,
      content: stalled(),
      close: async () => closing.reject(new Error('The blob was closed')),
    })
    await using app = await runApp({ store: { ...store, open: openStalled } })
    using connection = await openConnection(app.port)
    connection.write(customerRequest('GET', '/serve/a'))
    await until('the content is asked for', () => asked)
    connection.reset()
    await until('the file was released', () =>
      closing.promise.then(
        () => false,
        () => true,
      ),
    )
    await until('the request was logged', () => app.log.lines.length > 0)
    expect(app.log.lines.map(({ level }) => level)).to.deep.equal(['info'])
  })
})

const day = 24 * 60 * 60 * 1000

/** A store whose files were stored while the clock was a day ahead. */
function storeFromTomorrow() {
  const store = createMemoryBlobStore()
  const ahead = <T extends { readonly modifiedAt: Date }>(info: T): T => ({
    ...info,
    modifiedAt: new Date(info.modifiedAt.getTime() + day),
  })
  const open: typeof store.open = async (...args) => {
    const blob = await store.open(...args)
    return blob && { ...blob, info: ahead(blob.info) }
  }
  const stat: typeof store.stat = async (key) => {
    const info = await store.stat(key)
    return info && ahead(info)
  }
  return { ...store, open, stat }
}

describe('Last-Modified', () => {
  it('is never later than Date, and the conditions hold to the time that the store knows', async () => {
    await using app = await runApp({ store: storeFromTomorrow() })
    await fetch(`${app.url}/upload/a`, { method: 'PUT', headers: auth, body: 'content' })
    const ask = async (headers: Readonly<Record<string, string>> = {}, method = 'GET') => {
      const answer = await fetch(`${app.url}/serve/a`, { method, headers: { ...auth, ...headers } })
      await answer.arrayBuffer()
      return answer
    }
    for (const answer of [
      await ask(),
      await ask({}, 'HEAD'),
      await ask({ Range: 'bytes=0-1' }),
      await ask({ 'If-Modified-Since': new Date(Date.now() + 2 * day).toUTCString() }),
    ]) {
      const [date = 0, modified = 0] = ['date', 'last-modified'].map((name) =>
        Date.parse(answer.headers.get(name) ?? ''),
      )
      expect(modified).to.be.closeTo(Date.now(), 60_000)
      // Node makes a new Date once a second, and may be late.
      expect(modified - date, `${answer.status}`).to.be.at.most(1000)
    }
    // What may have been replaced within that second is not taken for the same.
    const sent = (await ask()).headers.get('last-modified') ?? ''
    expect((await ask({ 'If-Modified-Since': sent })).status).to.equal(200)
    expect((await ask({ 'If-Unmodified-Since': sent })).status).to.equal(412)
    expect((await ask({ Range: 'bytes=0-1', 'If-Range': sent })).status).to.equal(200)
  })
})
