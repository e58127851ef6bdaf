import { createServer } from 'node:http'
import { expect } from 'chai'
import Koa from 'koa'
import { exchange, openConnection, until } from '@holdfast/testing'
import { requestId } from '../../src/guards/request-log.ts'
import { listen } from '../support/listening.ts'
import { customerRequest, request } from '../support/request.ts'
import { answers, runBoth, stable } from './both-ways.ts'

const get = (path: string, headers: Record<string, string> = {}) =>
  customerRequest('GET', path, headers)

const pings: readonly (readonly [title: string, data: Uint8Array, isFast: boolean])[] = [
  ['a ping', request('GET', '/ping'), true],
  ['a ping, with an id of a proxy', request('GET', '/ping', { 'X-Request-Id': 'abc' }), true],
  ['a ping, as the last of a connection', request('GET', '/ping', { Connection: 'close' }), true],
  ['a ping of a customer', get('/ping'), true],
  ['a ping with a range', request('GET', '/ping', { Range: 'bytes=1-2' }), true],
  ['a ping with a condition', request('GET', '/ping', { 'If-None-Match': '*' }), true],
  ['a ping with a query', request('GET', '/ping?x=1'), false],
  ['a ping with a body of no bytes', request('GET', '/ping', { 'Content-Length': '0' }), true],
  ['a ping with a body', request('GET', '/ping', {}, 'body'), false],
  ['a path below', request('GET', '/ping/'), false],
  ['a ping of another case', request('GET', '/Ping'), false],
]

const requests: readonly (readonly [title: string, data: Uint8Array, isFast: boolean])[] = [
  ['a small file', get('/serve/a.bin'), true],
  ['a page', get('/serve/b.html'), true],
  ['a file of no known type', get('/serve/no-type.x1'), true],
  ['an empty file', get('/serve/empty.txt'), true],
  ['a file, with an id of a proxy', get('/serve/a.bin', { 'X-Request-Id': 'abc' }), true],
  ['a file, as the last of a connection', get('/serve/a.bin', { Connection: 'close' }), true],
  ['a large file', get('/serve/large.txt'), false],
  ['no file', get('/serve/none.bin'), false],
  ['nothing', get('/serve/'), false],
  ['a path above', get('/serve/..'), false],
  ['an escaped name', get('/serve/a%2ebin'), false],
  ['a query', get('/serve/a.bin?x=1'), false],
  ['an earlier version', get('/serve/a.bin?version=1'), false],
  ['a range', get('/serve/a.bin', { Range: 'bytes=1-2' }), false],
  ['what the client may have', get('/serve/a.bin', { 'If-None-Match': '"x"' }), false],
  [
    'a GET with a body of no bytes',
    customerRequest('GET', '/serve/a.bin', { 'Content-Length': '0' }),
    true,
  ],
  ['a GET with a body', customerRequest('GET', '/serve/a.bin', {}, 'body'), false],
  ['a DELETE of no file', customerRequest('DELETE', '/serve/a.bin'), false],
  ['a file, for a stranger', request('GET', '/serve/a.bin'), false],
  ['a file, for who knows no password', get('/serve/a.bin', { 'x-auth-password': 'x' }), false],
]

describe('the fast path of GET', () => {
  for (const [title, data, isFast] of [...pings, ...requests]) {
    it(`answers a request for ${title} as the application does, and is logged like it`, async () => {
      await using both = await runBoth()
      // From its first answer on, the type of a file is known.
      await answers(both, data)
      const before = both.handled()
      const { one, other, lines } = await answers(both, data)
      expect(stable(one)).to.deep.equal(stable(other))
      expect(lines[0]).to.deep.equal(lines[1])
      expect(both.handled() - before, 'answered by the application').to.equal(isFast ? 1 : 2)
      expect(both.counts.closed, 'closed').to.equal(both.counts.opened)
    })
  }

  it('has a failed login verified once, and reported once', async () => {
    await using both = await runBoth()
    await exchange(both.fast.port, get('/serve/a.bin'))
    both.verified.length = 0
    const answer = await exchange(both.fast.port, get('/serve/a.bin', { 'x-auth-password': 'x' }))
    expect(answer.status).to.equal(400)
    expect(both.verified).to.deep.equal(['x'])
    expect(both.audit.stable()).to.have.length(1)
  })

  it('is only for requests that a server of ours has examined', async () => {
    await using both = await runBoth()
    const strange = get('/serve/a.bin', { Host: 'a b' })
    await exchange(both.fast.port, get('/serve/a.bin'))
    // Another application makes the record of the request, on a server of Node.
    const within = both.app.callback()
    const around = new Koa().use(requestId).use((ctx) => {
      ctx.respond = false
      return within(ctx.req, ctx.res)
    })
    const callback = around.callback()
    await using server = await listen(createServer((...pair) => void callback(...pair)))
    expect((await exchange(server.port, get('/serve/a.bin'))).status).to.equal(200)
    expect((await exchange(server.port, strange)).status).to.equal(400)
  })

  it('opens a large file once', async () => {
    await using both = await runBoth()
    for (const opened of [1, 2]) {
      expect((await exchange(both.fast.port, get('/serve/large.txt'))).status).to.equal(200)
      expect(both.counts.opened).to.equal(opened)
    }
  })

  it('closes a large file that a limit refuses after it was opened', async () => {
    await using both = await runBoth({ maxRequestsPerCustomer: 1 })
    await exchange(both.fast.port, get('/serve/large.txt'))
    const data = get('/serve/large.txt')
    const statuses = await Promise.all(
      Array.from({ length: 20 }, async () => (await exchange(both.fast.port, data)).status),
    )
    expect(statuses).to.include(200)
    await until('all are closed', () => both.counts.closed === both.counts.opened)
  })

  it('counts a request while its file is being opened', async () => {
    await using both = await runBoth({ maxRequestsPerCustomer: 1 })
    const data = get('/serve/a.bin')
    await exchange(both.fast.port, data)
    const opening = Promise.withResolvers<undefined>()
    both.gate.held = opening.promise
    const asked = both.counts.asked
    const first = exchange(both.fast.port, data)
    await until('the file is being opened', () => both.counts.asked === asked + 1)
    expect((await exchange(both.fast.port, data)).status).to.equal(503)
    opening.resolve(undefined)
    expect((await first).status).to.equal(200)
    expect((await exchange(both.fast.port, data)).status).to.equal(200)
  })

  it('counts an answer as under way until its client has taken it', async () => {
    await using both = await runBoth({ maxRequestsPerCustomer: 1, smallest: Infinity })
    await exchange(both.fast.port, get('/serve/large.txt'))
    using slow = await openConnection(both.fast.port)
    slow.pause()
    // More than the system takes on behalf of a client that reads nothing.
    for (let n = 0; n < 100; n++) slow.write(get('/serve/large.txt'))
    const status = async () => (await exchange(both.fast.port, get('/serve/a.bin'))).status
    await until('there is no slot left', async () => (await status()) === 503)
    slow.resume()
    await until('there is one again', async () => (await status()) === 200)
  })
})
