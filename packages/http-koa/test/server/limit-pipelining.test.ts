import type { IncomingMessage, ServerResponse } from 'node:http'
import { expect } from 'chai'
import {
  type Connection,
  type ConnectionOptions,
  makeCertificate,
  openConnection,
  until,
} from '@holdfast/testing'
import {
  createHttpServer,
  createHttpsServer,
  type ServerCertificate,
} from '../../src/server/http-server.ts'
import { listen } from '../support/listening.ts'
import { request } from '../support/request.ts'

/** What is read ahead of the answers at most: those that wait, one that is answered, and one more on the way. */
const mostAhead = 18

/** How much Node reads at a time, in bytes: so much may come ahead until a request has waited on the connection. */
const mostRead = 64 * 1024

/** A server whose answer is the body of the request; it counts what Node has parsed. With a certificate it uses TLS. */
async function runEcho(certificate?: ServerCertificate) {
  let mayAnswer: Promise<unknown> = Promise.resolve()
  let parsed = 0
  let latest: string | undefined
  let answered = 0
  let mostUnanswered = 0
  const answer = async (incoming: IncomingMessage, response: ServerResponse) => {
    await mayAnswer
    const chunks: Buffer[] = []
    for await (const chunk of incoming) chunks.push(chunk as Buffer)
    response.end(`<${Buffer.concat(chunks).toString()}>`)
    answered++
  }
  const app = { callback: () => answer }
  const server = certificate ? createHttpsServer(app, certificate) : createHttpServer(app)
  server.on('request', ({ url }: IncomingMessage) => {
    parsed++
    latest = url
    mostUnanswered = Math.max(mostUnanswered, parsed - answered)
  })
  return {
    ...(await listen(server)),
    /** Holds all answers until the returned function is called. */
    hold() {
      const { promise, resolve } = Promise.withResolvers<undefined>()
      mayAnswer = promise
      return () => resolve(undefined)
    },
    parsed: () => parsed,
    /** The target of the request that was parsed last. */
    latest: () => latest,
    mostUnanswered: () => mostUnanswered,
  }
}

/** A connection on which a request has waited. */
async function openPipelined(port: number, options?: ConnectionOptions): Promise<Connection> {
  const connection = await openConnection(port, options)
  connection.write(Buffer.concat([ping, ping]))
  await until('both are answered', () => bodiesIn(connection.received()).length === 2)
  return connection
}

const bodiesIn = (received: string) => [...received.matchAll(/<([^>]*)>/g)].map(([, body]) => body)

const chunked = (body: string, trailer = '') =>
  Buffer.concat([
    request('PUT', '/', { 'Transfer-Encoding': 'chunked' }),
    Buffer.from(`${body.length.toString(16)}\r\n${body}\r\n0\r\n${trailer}\r\n`),
  ])

const ping = request('GET', '/')
const floods: readonly (readonly [title: string, unit: Buffer, body: string])[] = [
  ['without bodies', ping, ''],
  ['with lengths', request('PUT', '/', {}, 'a\r\n\r\nb'), 'a\r\n\r\nb'],
  ['in chunks', chunked('a\r\n\r\nb'), 'a\r\n\r\nb'],
  ['in chunks, with trailers', chunked('ab', 'Digest: none\r\n'), 'ab'],
]

describe('limitPipelining', () => {
  for (const [title, unit, body] of floods) {
    it(`parses few requests ${title} ahead of the answers, and answers all of them`, async () => {
      await using app = await runEcho()
      using connection = await openPipelined(app.port)
      const release = app.hold()
      connection.write(Buffer.concat(Array.from({ length: 3_000 }, () => unit)))
      await until('the first came', () => app.parsed() > 2)
      using other = await openConnection(app.port)
      other.write(ping)
      await until('what came behind on another connection is there', () => app.parsed() > 3)
      release()
      await until('all are answered', () => bodiesIn(connection.received()).length === 3_002)
      expect(new Set(bodiesIn(connection.received()).slice(2))).to.deep.equal(new Set([body]))
      expect(app.mostUnanswered()).to.be.at.most(mostAhead + 1)
    })

    it(`parses no more requests ${title} than Node reads at a time, where none has waited`, async () => {
      await using app = await runEcho()
      const release = app.hold()
      using connection = await openConnection(app.port)
      connection.write(Buffer.concat(Array.from({ length: 5_000 }, () => unit)))
      await until('the first came', () => app.parsed() > 0)
      release()
      await until('all are answered', () => bodiesIn(connection.received()).length === 5_000)
      expect(new Set(bodiesIn(connection.received()))).to.deep.equal(new Set([body]))
      expect(app.mostUnanswered()).to.be.at.most(mostRead / unit.length + mostAhead)
    })
  }

  it('parses few requests ahead over TLS, and answers all of them', async () => {
    const certificate = await makeCertificate()
    await using app = await runEcho(certificate)
    using connection = await openPipelined(app.port, { ca: certificate.certificate })
    for (const [, unit, body] of floods) {
      const [parsed, received] = [app.parsed(), bodiesIn(connection.received()).length]
      const release = app.hold()
      connection.write(Buffer.concat(Array.from({ length: 3_000 }, () => unit)))
      await until('the first came', () => app.parsed() > parsed)
      release()
      const latest = () => bodiesIn(connection.received()).slice(received)
      await until('all are answered', () => latest().length === 3_000)
      expect(new Set(latest())).to.deep.equal(new Set([body]))
    }
    expect(app.mostUnanswered()).to.be.at.most(mostAhead + 1)
  })

  it('answers all that is read ahead over TLS, also for a client that says that no more is coming', async () => {
    const certificate = await makeCertificate()
    await using app = await runEcho(certificate)
    using connection = await openConnection(app.port, { ca: certificate.certificate })
    connection.write(Buffer.concat(Array.from({ length: 1_000 }, () => ping)))
    connection.halfClose()
    await until('the connection ended', () => connection.isClosed())
    expect(bodiesIn(connection.received())).to.have.length(1_000)
  })

  for (const size of [1, 2, 3, 5, 7, 61]) {
    it(`reads segments of ${size} bytes as one of all`, async () => {
      await using app = await runEcho()
      using connection = await openConnection(app.port)
      const bytes = Buffer.concat([
        chunked('one\r\n\r\n'),
        request('PUT', '/', {}, 'two'),
        ping,
        chunked('three', 'Digest: none\r\n'),
        request('PUT', '/', {}, '\r\n\r\nfour'),
      ])
      for (let at = 0; at < bytes.length; at += size) {
        const segment = bytes.subarray(at, at + size)
        await new Promise((resolve) => void connection.isTaken(segment).then(resolve))
      }
      await until('all are answered', () => bodiesIn(connection.received()).length === 5)
      expect(bodiesIn(connection.received())).to.deep.equal([
        'one\r\n\r\n',
        'two',
        '',
        'three',
        '\r\n\r\nfour',
      ])
    })
  }

  it('leaves large bodies as they are, whose segments it frees', async () => {
    await using app = await runEcho()
    const release = app.hold()
    using connection = await openConnection(app.port)
    const body = Array.from({ length: 200_000 }, (_, index) => `${index},`).join('')
    connection.write(Buffer.concat([chunked(body), request('PUT', '/', {}, body), ping]))
    await until('the first came', () => app.parsed() > 0)
    release()
    await until('all are answered', () => connection.received().endsWith('<>'))
    const bodies = bodiesIn(connection.received())
    expect(bodies.map((each) => each === body)).to.deep.equal([true, true, false])
  })

  it('finds the end of a body whose head came in two segments', async () => {
    await using app = await runEcho()
    using connection = await openPipelined(app.port)
    const release = app.hold()
    const body = 'x'.repeat(30_000)
    const upload = request('PUT', '/', {}, body)
    const end = upload.indexOf('\r\n\r\n') + 3
    connection.write(upload.subarray(0, end))
    using other = await openConnection(app.port)
    other.write(ping)
    await until('the first half is there', () => app.parsed() === 3)
    const pings = Array.from({ length: 1_000 }, () => ping)
    connection.write(Buffer.concat([upload.subarray(end), ...pings]))
    await until('the upload came', () => app.parsed() > 3)
    release()
    await until('all are answered', () => bodiesIn(connection.received()).length === 1_003)
    expect(bodiesIn(connection.received())[2]).to.equal(body)
    expect(app.mostUnanswered()).to.be.at.most(mostAhead + 1)
  })

  it('goes on where the client takes its answers late', async () => {
    await using app = await runEcho()
    using connection = await openConnection(app.port)
    connection.pause()
    const body = 'x'.repeat(100_000)
    const uploads = Array.from({ length: 100 }, () => request('PUT', '/', {}, body))
    connection.write(Buffer.concat(uploads))
    await until('answers have begun', () => app.parsed() > 5)
    connection.resume()
    await until('all are answered', () => bodiesIn(connection.received()).length === 100)
    expect(new Set(bodiesIn(connection.received()))).to.deep.equal(new Set([body]))
    expect(app.mostUnanswered()).to.be.at.most(mostAhead)
  })

  it('answers a client that says at once that no more is coming', async () => {
    await using app = await runEcho()
    using connection = await openConnection(app.port)
    connection.write(Buffer.concat(Array.from({ length: 1_000 }, () => ping)))
    connection.halfClose()
    await until('the connection ended', () => connection.isClosed())
    expect(bodiesIn(connection.received())).to.have.length(1_000)
  })

  it('parses nothing behind what is refused', async () => {
    for (const refused of [
      'GET / HTTP/1.1\r\n\r\n',
      'CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n',
      'nonsense\r\n\r\n',
    ]) {
      await using app = await runEcho()
      using connection = await openPipelined(app.port)
      const pings = Array.from({ length: 1_000 }, () => ping)
      connection.write(Buffer.concat([ping, Buffer.from(refused), ...pings]))
      await until('the connection ended', () => connection.isClosed())
      expect(connection.received().match(/HTTP\/1\.1 /g)).to.have.length(4)
      expect(app.parsed()).to.be.at.most(2 + mostAhead + 1)
    }
  })

  it('finds the end of a body that has begun with its head', async () => {
    await using app = await runEcho()
    const release = app.hold()
    using connection = await openConnection(app.port)
    const body = 'x'.repeat(200_000)
    const upload = request('PUT', '/', {}, body)
    connection.write(upload.subarray(0, 30_000))
    await until('it has begun', () => app.parsed() === 1)
    const pings = Array.from({ length: 1_000 }, () => ping)
    connection.write(Buffer.concat([upload.subarray(30_000), ...pings]))
    release()
    await until('all are answered', () => bodiesIn(connection.received()).length === 1_001)
    expect(bodiesIn(connection.received())[0]).to.equal(body)
    expect(app.mostUnanswered()).to.be.at.most(mostRead / ping.length + mostAhead)
  })

  it('reads no connection ahead while many requests wait in all, and does so again afterwards', async () => {
    await using app = await runEcho()
    const pings = Buffer.concat(Array.from({ length: 1_600 }, () => ping))
    const hasAll = (one: Connection) => bodiesIn(one.received()).length === 1_600
    for (let round = 0; round < 3; round++) {
      const release = app.hold()
      const connections = await Promise.all(
        Array.from({ length: 30 }, () => openConnection(app.port)),
      )
      for (const connection of connections) connection.write(pings)
      using other = await openConnection(app.port)
      other.write(request('GET', '/last'))
      await until('what came behind all of them is there', () => app.latest() === '/last')
      release()
      await until('all are answered', () => connections.every(hasAll))
      await until('this, too', () => bodiesIn(other.received()).length === 1)
      for (const connection of connections) connection.close()
    }
    // Two such readings are more than the most that may wait in all.
    expect(app.mostUnanswered()).to.be.at.most((2 * mostRead) / ping.length + 31 * mostAhead)

    const before = app.parsed()
    const release = app.hold()
    using fresh = await openConnection(app.port)
    fresh.write(pings)
    await until('it is read ahead', () => app.parsed() > before + 100)
    release()
    await until('all are answered', () => hasAll(fresh))
  })
})
