import { once } from 'node:events'
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type ServerResponse,
} from 'node:http'
import {
  createServer as createTcpServer,
  type AddressInfo,
  type Server as TcpServer,
} from 'node:net'
import type { Readable } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import type { HttpRequest } from '@smithy/types'
import { until } from '@holdfast/testing'
import { expect } from 'chai'
import { createHttpHandler, type StoreHttpHandler } from '../../src/http/s3-client.ts'
import { mayBeDone } from '../../src/http/s3-errors.ts'
import { failureOf } from '../faults/faulty-store.ts'

const timeouts = { connectTimeoutMs: 400, idleTimeoutMs: 400 }

describe('createHttpHandler', () => {
  const servers: TcpServer[] = []
  let handler: StoreHttpHandler
  beforeEach(() => {
    handler = createHttpHandler(timeouts)
  })
  afterEach(() => {
    handler.destroy()
    for (const server of servers.splice(0)) server.close()
  })

  const listen = async (server: TcpServer) => {
    servers.push(server)
    await once(server.listen(0, '127.0.0.1'), 'listening')
    return (server.address() as AddressInfo).port
  }
  const serve = (listener: RequestListener) => listen(createServer(listener))
  const silent = () => listen(createTcpServer(() => {}))

  it('sends method, path, query, headers and body', async () => {
    const seen: unknown[] = []
    const port = await serve((request, response) => {
      void bodyOf(request).then((body) => {
        seen.push([request.method, request.url, request.headers['x-a'], body])
        response.end()
      })
    })
    await handler.handle(
      requestTo(port, {
        method: 'PUT',
        path: '/b/k',
        query: { a: "1 !'()*", b: null, c: ['2', '3'] },
        headers: { 'x-a': 'y' },
        body: Buffer.from('hello'),
      }),
    )
    expect(seen).to.deep.equal([['PUT', '/b/k?a=1%20%21%27%28%29%2A&b&c=2&c=3', 'y', 'hello']])
  })

  it('gives status, headers and body of the answer', async () => {
    const port = await serve((_request, response) => {
      response.writeHead(418, { 'x-a': 'y' }).end('hello')
    })
    const { response } = await handler.handle(requestTo(port))
    expect(response.statusCode).to.equal(418)
    expect(response.headers['x-a']).to.equal('y')
    expect(await bodyOf(response.body as Readable)).to.equal('hello')
  })

  it('sends a large body only when the server says that it takes it', async () => {
    const large = Buffer.alloc(2 * 1024 * 1024, 'x')
    const server = createServer((request, response) => {
      void bodyOf(request).then((body) => response.end(`${body.length}`))
    })
    let sent = 0
    server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
      if (request.url === '/taken') {
        response.writeContinue()
        server.emit('request', request, response)
        return
      }
      request.on('data', (chunk: Buffer) => (sent += chunk.length))
      response.writeHead(507).end('full')
    })
    const port = await listen(server)
    const put = async (path: string) => {
      const request = requestTo(port, {
        method: 'PUT',
        path,
        headers: { 'content-length': `${large.length}` },
        body: large,
      })
      const { response } = await handler.handle(request)
      return [response.statusCode, await bodyOf(response.body as Readable)]
    }
    expect(await put('/taken')).to.deep.equal([200, `${large.length}`])
    expect(await put('/refused')).to.deep.equal([507, 'full'])
    expect(sent).to.equal(0)
    await until('nothing is held', () => handler.busyConnections() === 0)
  })

  it('sends a large body after a second to a server that does not say anything', async () => {
    const patient = createHttpHandler({ ...timeouts, idleTimeoutMs: 5000 })
    const large = Buffer.alloc(2 * 1024 * 1024, 'x')
    const port = await listen(
      createTcpServer((socket) => {
        let received = 0
        socket.on('data', (bytes) => {
          received += bytes.length
          if (received > large.length) socket.write('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n')
        })
      }),
    )
    const headers = { 'content-length': `${large.length}` }
    const { response } = await patient.handle(
      requestTo(port, { method: 'PUT', headers, body: large }),
    )
    expect(response.statusCode).to.equal(200)
    patient.destroy()
  })

  for (const condition of ['if-match', 'if-none-match']) {
    it(`sends the body of a request with ${condition} only when the server takes it, however long that lasts`, async () => {
      const patient = createHttpHandler({ ...timeouts, idleTimeoutMs: 5000 })
      const server = createServer()
      let isAllowed = false
      server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
        void bodyOf(request).then((body) => response.end(`${isAllowed} ${body}`))
        // Longer than a large body waits.
        setTimeout(() => {
          isAllowed = true
          response.writeContinue()
        }, 1500)
      })
      const headers = { [condition]: '*', 'content-length': '5' }
      const { response } = await patient.handle(
        requestTo(await listen(server), { method: 'PUT', headers, body: Buffer.from('hello') }),
      )
      expect(await bodyOf(response.body as Readable)).to.equal('true hello')
      patient.destroy()
    })
  }

  it('sends an empty body at once, whatever the condition', async () => {
    const port = await serve((request, response) => response.end(`${request.headers.expect}`))
    const headers = { 'if-match': '*', 'content-length': '0' }
    const { response } = await handler.handle(
      requestTo(port, { method: 'PUT', headers, body: Buffer.alloc(0) }),
    )
    expect(await bodyOf(response.body as Readable)).to.equal('undefined')
  })

  it('uses a connection again, and counts it only while it is used', async () => {
    const ports = new Set<number | undefined>()
    const port = await serve((request, response) => {
      ports.add(request.socket.remotePort)
      response.end('hello')
    })
    for (let i = 0; i < 3; i++) {
      const { response } = await handler.handle(requestTo(port))
      expect(handler.busyConnections()).to.equal(1)
      await bodyOf(response.body as Readable)
      await until('it is given back', () => handler.busyConnections() === 0)
    }
    expect(ports.size).to.equal(1)
  })

  it('gives up a server that says nothing', async () => {
    const asking = handler.handle(requestTo(await silent()))
    expect(await failureOf(asking, 'asking')).to.include({
      name: 'TimeoutError',
      code: 'ETIMEDOUT',
    })
    await until('nothing is held', () => handler.busyConnections() === 0)
  })

  it('gives up a server that does not take what is sent', async () => {
    const port = await listen(createTcpServer((socket) => socket.pause()))
    const body = Buffer.alloc(32 * 1024 * 1024)
    const asking = handler.handle(requestTo(port, { method: 'PUT', body }))
    expect(await failureOf(asking, 'asking')).to.have.property('code', 'ETIMEDOUT')
  })

  it('knows whether a server may have done what was asked before the connection broke', async () => {
    const large = Buffer.alloc(32 * 1024 * 1024)
    const failing = async (port: number, body: Buffer) =>
      mayBeDone(await failureOf(handler.handle(requestTo(port, { method: 'PUT', body })), 'asking'))
    const resetting = await listen(
      createTcpServer((socket) => socket.once('data', () => socket.resetAndDestroy())),
    )
    expect(await failing(resetting, Buffer.from('all'))).to.equal(true)
    expect(await failing(await silent(), Buffer.from('all'))).to.equal(true)
    const deaf = await listen(createTcpServer((socket) => socket.pause()))
    expect(await failing(deaf, large)).to.equal(false)
    const closed = createTcpServer()
    await once(closed.listen(0, '127.0.0.1'), 'listening')
    const { port } = closed.address() as AddressInfo
    await once(closed.close(), 'close')
    expect(await failing(port, Buffer.from('all'))).to.equal(false)
  })

  it('gives up a server that does not finish the TLS handshake', async () => {
    const asking = handler.handle(requestTo(await silent(), { protocol: 'https:' }))
    expect(await failureOf(asking, 'asking'))
      .to.have.property('message')
      .that.includes('No connection to the store within 400 ms')
  })

  it('gives up a server that stops in the middle of its answer', async () => {
    const port = await serve((_request, response) => {
      response.writeHead(200, { 'content-length': 10 }).write('hello')
    })
    const { response } = await handler.handle(requestTo(port))
    const reading = bodyOf(response.body as Readable)
    expect(await failureOf(reading, 'reading')).to.have.property('code', 'ETIMEDOUT')
    await until('nothing is held', () => handler.busyConnections() === 0)
  })

  it('waits for a server that is slow, but never silent for long', async () => {
    const port = await serve((_request, response) => {
      void (async () => {
        for (let i = 0; i < 6; i++) {
          await delay(timeouts.idleTimeoutMs / 4)
          response.write('.')
        }
        response.end()
      })()
    })
    const { response } = await handler.handle(requestTo(port))
    expect(await bodyOf(response.body as Readable)).to.equal('......')
  })

  it('waits for a reader who is slow', async () => {
    const bytes = Buffer.alloc(8 * 1024 * 1024, 'abc')
    const port = await serve((_request, response) => response.end(bytes))
    const { response } = await handler.handle(requestTo(port))
    await delay(3 * timeouts.idleTimeoutMs)
    expect((await bodyOf(response.body as Readable)).length).to.equal(bytes.length)
  })

  it('gives the server its time once a slow reader goes on', async () => {
    const port = await serve((_request, response) => {
      response.write('first')
      // What follows comes long after the reader has taken the first, but not too long.
      setTimeout(() => response.end('second'), 1.5 * timeouts.idleTimeoutMs)
    })
    const { response } = await handler.handle(requestTo(port))
    await delay(0.9 * timeouts.idleTimeoutMs)
    expect(await bodyOf(response.body as Readable)).to.equal('firstsecond')
  })

  it('waits for the reader of an empty answer', async () => {
    const port = await serve((_request, response) => response.end())
    const { response } = await handler.handle(requestTo(port))
    await delay(3 * timeouts.idleTimeoutMs)
    expect(await bodyOf(response.body as Readable)).to.equal('')
  })

  it('ends a request whose signal aborts, before and while it is under way', async () => {
    const port = await silent()
    const aborted = handler.handle(requestTo(port), { abortSignal: AbortSignal.abort() })
    expect(await failureOf(aborted, 'asking')).to.have.property('name', 'AbortError')
    const controller = new AbortController()
    const asking = handler.handle(requestTo(port), { abortSignal: controller.signal })
    setImmediate(() => controller.abort())
    expect(await failureOf(asking, 'asking')).to.have.property('name', 'AbortError')
    await until('nothing is held', () => handler.busyConnections() === 0)
  })

  it('fails what is under way, and what comes later, once it is destroyed', async () => {
    const port = await silent()
    const asking = handler.handle(requestTo(port))
    setImmediate(() => handler.destroy())
    expect(await failureOf(asking, 'asking')).to.have.property('code', 'ECONNRESET')
    const late = handler.handle(requestTo(port))
    expect(await failureOf(late, 'asking')).to.have.property('code', 'ECANCELED')
  })
})

function requestTo(port: number, request: Partial<HttpRequest> = {}): HttpRequest {
  return {
    protocol: 'http:',
    hostname: '127.0.0.1',
    port,
    method: 'GET',
    path: '/',
    query: {},
    headers: {},
    ...request,
  }
}

async function bodyOf(stream: Readable): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of stream as AsyncIterable<Buffer>) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}
