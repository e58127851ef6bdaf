import { createServer, type IncomingMessage } from 'node:http'
import { abortable } from '@holdfast/core'
import { expect } from 'chai'
import { openConnection, until } from '@holdfast/testing'
import { answerWhileDraining, type DrainOptions } from '../../src/guards/errors.ts'
import { chunksOf } from '../../src/server/request-body.ts'
import { listen } from '../support/listening.ts'

const mebibyte = 1024 * 1024
const post = (length: number) => `POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ${length}\r\n\r\n`

/** A server that refuses every request before it has read the body. */
function runRefusing(options?: DrainOptions) {
  const server = createServer((request, response) => {
    response.writeHead(400, { 'Content-Length': 2 })
    answerWhileDraining('no', request, options).pipe(response)
  })
  return listen(server)
}

/** A server that reads each body, and refuses the request once it waits for more of it. */
function runRefusingAmidBody() {
  const read = async (request: IncomingMessage) => {
    const stop = new AbortController()
    const chunks = chunksOf(request, () => new Error('cut off'))
    for await (const _ of abortable(chunks, stop.signal)) setImmediate(() => stop.abort())
  }
  const server = createServer((request, response) => {
    const refuse = () => {
      response.writeHead(400, { 'Content-Length': 2 })
      answerWhileDraining('no', request).pipe(response)
    }
    read(request).then(refuse, refuse)
  })
  return listen(server)
}

describe('answerWhileDraining', () => {
  it('answers at once, and keeps the connection when the rest of the body comes', async () => {
    await using server = await runRefusing()
    using connection = await openConnection(server.port, { staysOpen: true })
    connection.write(post(4))
    expect((await connection.answer()).body).to.equal('no')
    connection.write('rest' + post(0))
    await until('the next request was answered', () => {
      return connection.received().split('HTTP/1.1 400 ').length === 3
    })
    expect(connection.isClosed()).to.equal(false)
  })

  it('keeps the connection when the body was being read, and the rest of it comes', async () => {
    await using server = await runRefusingAmidBody()
    using connection = await openConnection(server.port, { staysOpen: true })
    connection.write(`${post(7)}the `)
    expect((await connection.answer()).body).to.equal('no')
    connection.write(`end${post(4)}next`)
    await until('the next request was answered', () => {
      return connection.received().split('HTTP/1.1 400 ').length === 3
    })
    expect(connection.isClosed()).to.equal(false)
  })

  it('reads a body to its end that was being read and comes in many chunks', async () => {
    await using server = await runRefusingAmidBody()
    using connection = await openConnection(server.port, { staysOpen: true })
    const size = 32 * mebibyte
    connection.write(`${post(size)}x`)
    expect((await connection.answer()).body).to.equal('no')
    connection.write(Buffer.alloc(size - 1))
    connection.write(post(0))
    await until('the next request was answered', () => {
      return connection.received().split('HTTP/1.1 400 ').length === 3
    })
    expect(connection.isClosed()).to.equal(false)
  })

  it('cuts a client that sends nothing more, when the time is over', async () => {
    await using server = await runRefusing({ maxBytes: mebibyte, maxMs: 50 })
    using connection = await openConnection(server.port, { staysOpen: true })
    connection.write(post(4))
    expect((await connection.answer()).body).to.equal('no')
    await until('the connection was cut', () => connection.isClosed())
  })

  it('cuts a client that goes on sending, when that is too much, and not before', async () => {
    await using server = await runRefusing({ maxBytes: 4 * mebibyte, maxMs: 60_000 })
    using connection = await openConnection(server.port, { staysOpen: true })
    connection.write(post(1024 * mebibyte))
    expect((await connection.answer()).body).to.equal('no')
    for (let sent = 0; sent < 3; sent++) {
      expect(await connection.isTaken(Buffer.alloc(mebibyte))).to.equal(true)
    }
    expect(connection.isClosed()).to.equal(false)
    connection.write(Buffer.alloc(16 * mebibyte))
    await until('the connection was cut', () => connection.isClosed())
  })
})
