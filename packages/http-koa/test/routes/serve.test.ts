import { expect } from 'chai'
import { generateStore } from '../support/generated-store.ts'
import { connectRaw } from '../support/raw-connection.ts'
import { customerRequest } from '../support/request.ts'
import { auth, runApp } from '../support/running-app.ts'
import { until } from '../support/until.ts'

const mebibyte = 1024 * 1024

describe('serve', () => {
  it('reads no further ahead than the client takes', async () => {
    const store = generateStore({ size: 1024 * mebibyte })
    await using app = await runApp({ store })
    using connection = await connectRaw(app.port)
    connection.pause()
    connection.send(customerRequest('GET', '/serve/large'))
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
    using connection = await connectRaw(app.port)
    connection.send(customerRequest('GET', '/serve/large'))
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
    using connection = await connectRaw(app.port)
    connection.send(customerRequest('GET', '/serve/large', { 'X-Request-Id': 'the-id' }))
    await until('the connection was cut', () => connection.isClosed())
    expect((await connection.answer()).headers.get('content-length')).to.equal(`${10 * mebibyte}`)
    expect(connection.received().length).to.be.lessThan(2 * mebibyte)
    await until('the request was logged', () => app.log.lines.length >= 2)
    const errors = app.log.lines.filter(({ level }) => level === 'error')
    expect(errors).to.deep.equal([
      {
        level: 'error',
        fields: { requestId: 'the-id', err: failure },
        message: 'The answer broke off',
      },
    ])
    const [line] = app.log.lines.filter(({ level }) => level === 'info')
    expect(line?.fields).to.include({ status: 200, aborted: true })
  })

  it('logs once also what fails at the first byte', async () => {
    const failure = new Error('The disk is on fire')
    await using app = await runApp({ store: generateStore({ size: 10, failure }) })
    using connection = await connectRaw(app.port)
    connection.send(customerRequest('GET', '/serve/a'))
    await until('the connection was cut', () => connection.isClosed())
    expect(app.log.lines.filter(({ level }) => level === 'error')).to.have.length(1)
  })
})
