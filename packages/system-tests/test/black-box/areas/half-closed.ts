import { until } from '@holdfast/testing'
import { expect } from 'chai'
import { expectOk } from '../support/answer.ts'
import { filePart, form, formType } from '../support/form.ts'
import { requestHead } from '../support/request-head.ts'
import type { RunningService, StartService } from '../support/running-service.ts'

const large = Buffer.alloc(4 * 1024 * 1024, 'large')
const body = Buffer.from(form(filePart('new', 'content')))

const requests: readonly (readonly [
  method: string,
  path: string,
  sent: Buffer,
  answer: string | Buffer,
])[] = [
  ['GET', '/ping', Buffer.alloc(0), 'pong'],
  ['GET', '/list', Buffer.alloc(0), '["large"]'],
  ['GET', '/serve/large', Buffer.alloc(0), large],
  ['PUT', '/upload/new', Buffer.from('content'), 'OK'],
  ['PUT', '/upload/new', large, 'OK'],
  ['POST', '/upload', body, 'OK'],
  ['DELETE', '/delete/large', Buffer.alloc(0), 'OK'],
  [
    'POST',
    '/delete/batch',
    Buffer.from('["large"]'),
    '{"filename":"large","statusCode":200,"message":"OK"}\n',
  ],
]

/** With the login and the body that it takes, if any. */
function whole(service: RunningService, method: string, path: string, sent: Buffer): Buffer {
  const headers = {
    ...service.anna.headers,
    ...(method === 'POST' && { 'Content-Type': formType }),
    ...(sent.length > 0 && { 'Content-Length': sent.length }),
  }
  return Buffer.concat([requestHead(method, path, headers), sent])
}

export function halfClosed(start: StartService): void {
  describe('a client that says no more is coming, and listens', () => {
    for (const [method, path, sent, expected] of requests) {
      it(`gets the answer to ${method} ${path} of ${sent.length} bytes, and the connection ends`, async () => {
        await using service = await start()
        expectOk(await service.anna.put('large', large))
        const logged = service.log.length
        using connection = await service.connect()
        await connection.send(whole(service, method, path, sent))
        connection.halfClose()
        const answer = await connection.answer()
        expect(answer.status).to.equal(200)
        expect(answer.bytes.equals(Buffer.from(expected)), 'the whole answer').to.equal(true)
        expect(await connection.closed).to.equal(undefined)
        await until('the server logs a line', () => service.log.length > logged)
        expect(service.log.at(-1)?.fields).to.include({ status: 200, aborted: undefined })
      })
    }

    it('while its login waits and with requests in a row gets all answers, in order', async () => {
      const gate = Promise.withResolvers<undefined>()
      await using service = await start({ beforeHash: () => gate.promise })
      using connection = await service.connect()
      await connection.send(
        whole(service, 'PUT', '/upload/new', Buffer.from('content')),
        whole(service, 'GET', '/list', Buffer.alloc(0)),
        whole(service, 'GET', '/ping', Buffer.alloc(0)),
      )
      connection.halfClose()
      await until('a password is hashed', () => service.hashes() > 0)
      gate.resolve(undefined)
      expectOk(await connection.answer())
      // Looked at while the upload was under way, or behind it.
      expect((await connection.answer()).headers.get('content-type')).to.include('json')
      expect((await connection.answer()).bytes.toString()).to.equal('pong')
      expect(await connection.closed).to.equal(undefined)
      expect(connection.unread()).to.have.length(0)
    })

    it('without a request loses the connection', async () => {
      await using service = await start()
      using fresh = await service.connect()
      fresh.halfClose()
      await fresh.closed
      using used = await service.connect()
      await used.send(requestHead('GET', '/ping'))
      await used.answer()
      used.halfClose()
      await used.closed
      expect(service.log).to.have.length(1)
    })
  })
}
