import { until } from '@holdfast/testing'
import { expect } from 'chai'
import { expectError } from '../support/answer.ts'
import { requestHead } from '../support/request-head.ts'
import { anna, type StartService } from '../support/running-service.ts'

/** What is no HTTP request, or none that a server may answer as if it were. */
const noRequests: Readonly<Record<string, readonly [status: number, bytes: string]>> = {
  'bytes that are no HTTP': [400, '\u0016\u0003\u0001 hello\r\n\r\n'],
  'an unknown method': [400, 'BREW /ping HTTP/1.1\r\nHost: a\r\n\r\n'],
  'no Host': [400, 'GET /ping HTTP/1.1\r\n\r\n'],
  'two Hosts': [400, 'GET /ping HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n'],
  'a header without a colon': [400, 'GET /ping HTTP/1.1\r\nHost: a\r\nnonsense\r\n\r\n'],
  'headers beyond measure': [
    431,
    `GET /ping HTTP/1.1\r\nHost: a\r\nx: ${'x'.repeat(40_000)}\r\n\r\n`,
  ],
  'two lengths': [
    400,
    'POST /upload HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nx',
  ],
  'a length and chunks': [
    400,
    'POST /upload HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
  ],
}

export function errorForm(start: StartService): void {
  describe('every error', () => {
    it('has exactly statusCode, error and message, in this content type', async () => {
      await using service = await start()
      const answer = await service.anna.list()
      expectError(answer, 400, 'No files uploaded yet')
      expect(JSON.parse(answer.bytes.toString())).to.have.all.keys('statusCode', 'error', 'message')
      expect(answer.headers.get('content-length')).to.equal(`${answer.bytes.length}`)
    })

    for (const [title, [status, bytes]] of Object.entries(noRequests)) {
      it(`has that form even for ${title}: ${status}`, async () => {
        await using service = await start()
        const answer = await service.exchange(Buffer.from(bytes, 'latin1'))
        const { message } = JSON.parse(answer.bytes.toString()) as { message: string }
        expect(message).to.be.a('string').and.not.equal('')
        expectError(answer, status, message)
      })
    }

    it('carries an x-request-id, as every answer does, which the log line of the request has, too', async () => {
      await using service = await start()
      const answers = [await service.anna.list(), await service.anna.send('GET', '/ping')]
      for (const { headers, status } of answers) {
        const requestId = headers.get('x-request-id')
        const lineOf = () => service.log.find(({ fields }) => fields['requestId'] === requestId)
        await until('the request is logged', () => lineOf() !== undefined)
        expect(lineOf()?.fields).to.include({ status })
      }
      expect(answers[0]?.headers.get('x-request-id')).to.not.equal(
        answers[1]?.headers.get('x-request-id'),
      )
    })

    it('carries the x-request-id of a proxy, unless it could harm a log', async () => {
      await using service = await start()
      const given = await service.anna.send('GET', '/list', {
        headers: { 'x-request-id': 'proxy-7' },
      })
      expect(given.headers.get('x-request-id')).to.equal('proxy-7')
      const head = requestHead('GET', '/list', { 'x-request-id': 'a "b"' })
      const answer = await service.exchange(head)
      expect(answer.headers.get('x-request-id')).to.match(/^[\w-]+$/)
    })
  })

  describe('the log', () => {
    it('has one line for each request and never a credential', async () => {
      await using service = await start()
      await service.anna.upload('a', 'x')
      await service.as({ name: 'anna', password: 'a wrong secret' }).list()
      await service.anna.serve('a')
      await until('three lines are logged', () => service.log.length >= 3)
      expect(service.log.map(({ fields }) => fields['path'])).to.deep.equal([
        '/upload',
        '/list',
        '/serve/a',
      ])
      const text = JSON.stringify(service.log)
      expect(text).to.include('"customer":"anna"')
      for (const secret of [anna.password, 'a wrong secret']) expect(text).to.not.include(secret)
    })
  })
}
