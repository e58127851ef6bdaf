import { expect } from 'chai'
import { expectError, expectExceeded, expectOk } from '../support/answer.ts'
import { formData } from '../support/customer-client.ts'
import { expectNoLitter } from '../support/expect-no-litter.ts'
import { boundary, filePart } from '../support/form.ts'
import { requestHead } from '../support/request-head.ts'
import type { StartService } from '../support/running-service.ts'
import { formHead } from '../support/send-form.ts'

/** A form of which more is announced than ever comes. */
const announced = 1e9
/** A file's part without its end. Its headers are known to have ended only when a byte of content has come. */
const openPart = (filename: string, content: string) => filePart(filename, content).subarray(0, -2)

export function earlyRefusal(start: StartService): void {
  describe('a refusal while the client stalls in its upload', () => {
    for (const [title, body, status, message] of [
      ['a file that is too large', openPart('a', 'x'.repeat(101)), 413, 'File too large'],
      ['a bad name', openPart('a/..', 'x'), 400, 'Invalid filename: it is ".."'],
      [
        'a second file part',
        Buffer.concat([filePart('a', 'x'), openPart('b', 'x')]),
        400,
        'More than one file',
      ],
      [
        'a part whose headers are broken',
        Buffer.from(`--${boundary}\r\nno header\r\n\r\n`),
        400,
        'Malformed multipart body',
      ],
    ] as const) {
      it(`comes at once for ${title}, and nothing is stored`, async () => {
        await using service = await start({ maxFileSize: 100 })
        expectError(await service.exchange(formHead(service, announced), body), status, message)
        expect(await service.anna.names()).to.deep.equal([])
        await expectNoLitter(service)
      })
    }

    it('comes at once for a taken name', async () => {
      await using service = await start()
      expectOk(await service.anna.upload('a', 'old'))
      const head = formHead(service, announced, { 'If-None-Match': '*' })
      expectError(await service.exchange(head, openPart('a', 'x')), 412, 'Precondition Failed')
    })

    it('comes at once for bad credentials, an unknown path and a wrong method', async () => {
      await using service = await start()
      const length = { 'Content-Length': announced }
      const wrong = { ...service.anna.headers, 'x-auth-password': 'wrong', ...length }
      const bad = await service.exchange(requestHead('POST', '/upload', wrong))
      expectError(bad, 400, 'Invalid credentials')
      const unknown = await service.exchange(requestHead('POST', '/nowhere', length))
      expectError(unknown, 404, 'Not Found')
      expect((await service.exchange(requestHead('POST', '/list', length))).status).to.equal(405)
    })

    it('comes at once for a quota that is exceeded', async () => {
      const customers = [{ name: 'anna', password: 'correct horse', quota: 50 }]
      await using service = await start({ customers })
      const body = openPart('a', 'x'.repeat(51))
      expectExceeded(await service.exchange(formHead(service, announced), body))
    })
  })

  describe('a large body that is refused', () => {
    const size = 8 * 2 ** 20

    it('gets the answer before the socket closes, even where the client sends everything before it reads', async () => {
      await using service = await start()
      const wrong = { 'x-auth-password': 'wrong', 'Content-Length': `${size}` }
      using connection = await service.connect()
      connection.pause()
      await connection.send(formHead(service, size, wrong))
      for (let sent = 0; sent < size; sent += 2 ** 20) await connection.send(Buffer.alloc(2 ** 20))
      connection.resume()
      const answer = await connection.answer()
      expectError(answer, 400, 'Invalid credentials')
      expect(answer.headers.get('connection')).to.equal('close')
      expect(await connection.closed).to.equal(undefined)
    })

    it('gets the answer through fetch, too, by form and by PUT', async () => {
      await using service = await start({ maxFileSize: 1000 })
      const stranger = service.as({ name: 'anna', password: 'wrong' })
      const content = Buffer.alloc(size)
      expectError(await stranger.put('a', content), 400, 'Invalid credentials')
      const body = formData('a', content)
      expectError(await stranger.send('POST', '/upload', { body }), 400, 'Invalid credentials')
      expectError(await service.anna.upload('a', content), 413, 'File too large')
      expectError(await service.anna.put('a', content), 413, 'File too large')
    })
  })
}
