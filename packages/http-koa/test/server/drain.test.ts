import { once } from 'node:events'
import { expect } from 'chai'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { makeCertificate, openConnection, until } from '@holdfast/testing'
import {
  createDrain,
  createHttpServer,
  createHttpsServer,
  type ServerCertificate,
} from '../../src/server/http-server.ts'
import { listen } from '../support/listening.ts'
import { request } from '../support/request.ts'

const graceMs = 60_000

/** A server that answers by the target of the request, once `mayAnswer` resolves, and its drain. */
async function runSlow(mayAnswer: Promise<unknown>, certificate?: ServerCertificate) {
  let arrived = 0
  const answer = async ({ url }: IncomingMessage, response: ServerResponse) => {
    await mayAnswer
    response.end(`<${url}>`)
  }
  const app = { callback: () => answer }
  const server = certificate ? createHttpsServer(app, certificate) : createHttpServer(app)
  const drain = createDrain(server)
  server.on('request', () => arrived++)
  return { ...(await listen(server)), drain, arrived: () => arrived }
}

const get = (path: string) => request('GET', path)

describe('createDrain', () => {
  for (const protocol of ['HTTP', 'HTTPS']) {
    it(`closes idle connections of ${protocol} at once, and others after their latest request`, async () => {
      const certificate = protocol === 'HTTPS' ? await makeCertificate() : undefined
      const options = certificate && { ca: certificate.certificate }
      const gate = Promise.withResolvers<undefined>()
      await using app = await runSlow(gate.promise, certificate)
      using silent = await openConnection(app.port, options)
      using busy = await openConnection(app.port, options)
      busy.write(Buffer.concat([get('/1'), get('/2'), get('/3')]))
      await until('all have arrived', () => app.arrived() === 3)
      const drained = app.drain(graceMs)
      await silent.closed
      gate.resolve(undefined)
      await busy.closed
      expect(silent.received()).to.equal('')
      expect(busy.received().match(/<[^>]*>/g)).to.deep.equal(['</1>', '</2>', '</3>'])
      expect(
        busy
          .received()
          .match(/^Connection: .*$/gim)
          ?.at(-1),
      ).to.equal('Connection: close')
      expect(await drained).to.equal(true)
    })
  }

  for (const protocol of ['HTTP', 'HTTPS']) {
    it(`sends all of an answer that the client of ${protocol} has not taken yet`, async () => {
      const certificate = protocol === 'HTTPS' ? await makeCertificate() : undefined
      const size = 32 * 2 ** 20
      const answer = async (_: IncomingMessage, response: ServerResponse) =>
        void response.end(Buffer.alloc(size, 'x'))
      const app = { callback: () => answer }
      const server = certificate ? createHttpsServer(app, certificate) : createHttpServer(app)
      const drain = createDrain(server)
      await using listening = await listen(server)
      const options = certificate && { ca: certificate.certificate }
      using connection = await openConnection(listening.port, options)
      connection.pause()
      const arrived = once(server, 'request')
      connection.write(get('/'))
      await arrived
      const drained = drain(graceMs)
      let received = 0
      connection.socket.on('data', (chunk: Buffer) => (received += chunk.length))
      connection.resume()
      await connection.closed
      expect(received).to.be.greaterThan(size)
      expect(await drained).to.equal(true)
    })
  }

  it('processes no request that arrives after the head of the latest response was sent', async () => {
    const gate = Promise.withResolvers<undefined>()
    const seen: (string | undefined)[] = []
    const answer = async ({ url }: IncomingMessage, response: ServerResponse) => {
      seen.push(url)
      response.write('begin')
      await gate.promise
      response.end('end')
    }
    const server = createHttpServer({ callback: () => answer })
    const drain = createDrain(server)
    await using listening = await listen(server)
    using connection = await openConnection(listening.port)
    connection.write(get('/first'))
    await connection.saw('begin')
    const drained = drain(graceMs)
    const arrived = once(server, 'request')
    connection.write(get('/late'))
    await arrived
    gate.resolve(undefined)
    await connection.closed
    expect(seen).to.deep.equal(['/first'])
    expect(await drained).to.equal(true)
  })

  it('processes no request that arrives after the latest response has announced the end', async () => {
    const gate = Promise.withResolvers<undefined>()
    await using app = await runSlow(gate.promise)
    using connection = await openConnection(app.port)
    const late = get('/late')
    connection.write(Buffer.concat([get('/first'), late.subarray(0, 9)]))
    await until('the first has arrived', () => app.arrived() === 1)
    const drained = app.drain(graceMs)
    connection.write(late.subarray(9))
    gate.resolve(undefined)
    await connection.closed
    expect(connection.received().match(/<[^>]*>/g)).to.deep.equal(['</first>'])
    expect(await drained).to.equal(true)
  })

  it('cuts what is left when the grace is over, or at once when it is asked to', async () => {
    for (const [grace, cut] of [
      [10, undefined],
      [graceMs, AbortSignal.abort()],
    ] as const) {
      await using app = await runSlow(new Promise(() => {}))
      using connection = await openConnection(app.port)
      connection.write(get('/'))
      await until('it has arrived', () => app.arrived() === 1)
      expect(await app.drain(grace, cut)).to.equal(false)
      await connection.closed
      expect(connection.received()).to.equal('')
    }
  })
})
