import { once } from 'node:events'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import { expect } from 'chai'
import { exchange, openConnection } from '../../src/connection.ts'
import { rejection } from '../../src/until.ts'

const ok = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nOK'

/** Listens, and has `serve` answer the one connection. */
async function listen(serve: (socket: Socket) => void) {
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    socket.on('error', () => {})
    serve(socket)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    [Symbol.dispose]: () => void server.close(),
  }
}

describe('openConnection', () => {
  it('takes answers one after the other, however their bytes come', async () => {
    using server = await listen((socket) => {
      socket.once('data', () => socket.write(`HTTP/1.1 100 Continue\r\n\r\n${ok}${ok.slice(0, 9)}`))
      socket.on('data', (data) => data.includes('more') && socket.write(ok.slice(9)))
    })
    using connection = await openConnection(server.port)
    connection.write('GET', Buffer.from(' /'))
    expect(await connection.answer()).to.include({ status: 100, body: '' })
    expect(await connection.answer()).to.include({ status: 200, body: 'OK' })
    await connection.saw(ok + ok.slice(0, 9))
    expect(connection.unread().toString()).to.equal(ok.slice(0, 9))
    await connection.send('more')
    expect(await connection.answer()).to.include({ status: 200, body: 'OK' })
    expect(connection.received()).to.equal(`HTTP/1.1 100 Continue\r\n\r\n${ok}${ok}`)
    expect(connection.isClosed()).to.equal(false)
  })

  it('takes the head of an answer to HEAD', async () => {
    using server = await listen((socket) => socket.end(ok.slice(0, -2)))
    using connection = await openConnection(server.port)
    expect(await connection.answer({ toHead: true })).to.include({ status: 200, body: '' })
  })

  it('rejects with what came when the connection ends before an answer', async () => {
    using server = await listen((socket) => socket.end(ok.slice(0, 12)))
    using connection = await openConnection(server.port)
    expect((await rejection(connection.answer())).message).to.equal('Closed after "HTTP/1.1 200"')
    expect(await connection.closed).to.equal(undefined)
    expect(connection.isClosed()).to.equal(true)
  })

  it('sends on after the server has ended, if it stays open', async () => {
    const received: Promise<Buffer>[] = []
    using server = await listen((socket) => {
      received.push(once(socket, 'data').then(([data]: Buffer[]) => data ?? Buffer.alloc(0)))
      socket.end('bye')
    })
    using connection = await openConnection(server.port, { staysOpen: true })
    while (!connection.isClosed()) await connection.arrival()
    await connection.send('late')
    expect(String(await received[0])).to.equal('late')
  })

  it('says that no more is coming, and reads on', async () => {
    using server = await listen((socket) => {
      socket.resume()
      socket.once('end', () => socket.end(ok))
    })
    using connection = await openConnection(server.port)
    connection.halfClose()
    expect(await connection.answer()).to.include({ body: 'OK' })
  })

  it('resets', async () => {
    const errors: Promise<unknown>[] = []
    using server = await listen((socket) => {
      errors.push(once(socket, 'error').then(([error]: unknown[]) => error))
      socket.write('x')
    })
    using connection = await openConnection(server.port)
    await connection.saw('x')
    connection.reset()
    await connection.closed
    expect(await errors[0]).to.have.property('code', 'ECONNRESET')
  })

  it('reports the error that it died of', async () => {
    using server = await listen((socket) => {
      socket.once('data', () => void socket.resetAndDestroy())
    })
    using connection = await openConnection(server.port)
    connection.write('x')
    expect(await connection.closed).to.have.property('code', 'ECONNRESET')
  })

  it('finds out whether bytes are taken', async () => {
    const sockets: Socket[] = []
    using server = await listen((socket) => void sockets.push(socket.pause()))
    using connection = await openConnection(server.port)
    expect(await connection.isTaken(Buffer.alloc(1))).to.equal(true)
    expect(await connection.isTaken(Buffer.alloc(2 ** 26))).to.equal(false)
    sockets[0]?.destroy()
  })

  it('comes from the address that it is given', async () => {
    using server = await listen((socket) => socket.end(String(socket.remoteAddress)))
    using connection = await openConnection(server.port, { localAddress: '127.0.0.9' })
    await connection.closed
    expect(connection.received()).to.equal('127.0.0.9')
  })
})

describe('exchange', () => {
  it('sends bytes on a connection of their own, and takes the one answer', async () => {
    using server = await listen((socket) => {
      socket.once('data', (data) => socket.end(data.includes('GET /') ? ok : ''))
    })
    expect(await exchange(server.port, 'GET ', '/')).to.include({ status: 200, body: 'OK' })
  })
})
