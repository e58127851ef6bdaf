import { expect } from 'chai'
import { expectError, expectOk } from '../support/answer.ts'
import { expectNoLitter } from '../support/expect-no-litter.ts'
import { boundary, filePart, form, formType, part, textPart } from '../support/form.ts'
import { requestHead } from '../support/request-head.ts'
import type { RunningService, StartService } from '../support/running-service.ts'
import { formHead, sendForm } from '../support/send-form.ts'

const malformed = 'Malformed multipart body'
const whole = form(filePart('a.txt', 'new'))
const closing = `--${boundary}--\r\n`

async function expectOldFile(service: RunningService): Promise<void> {
  expect(await service.anna.text('a.txt')).to.equal('old')
  expect(await service.anna.names()).to.deep.equal(['a.txt'])
  await expectNoLitter(service)
}

const broken: Readonly<Record<string, Buffer>> = {
  'a closing boundary without its final --': whole.subarray(0, -4),
  'a closing boundary with one dash': whole.subarray(0, -3),
  'no closing boundary': whole.subarray(0, -closing.length),
  'a part whose headers do not end': Buffer.from(`--${boundary}\r\nContent-Disposition: form-data`),
  'no boundary at all': Buffer.from('just some bytes'),
  'an opening boundary and nothing else': Buffer.from(`--${boundary}\r\n`),
  'another boundary than announced': Buffer.from(whole.toString().replaceAll(boundary, 'other')),
  'a text field that is cut off': form(filePart('a.txt', 'new'), textPart('note', 'x')).subarray(
    0,
    -closing.length - 3,
  ),
}

export function uploadMalformed(start: StartService): void {
  describe('malformed multipart', () => {
    for (const [title, body] of Object.entries(broken)) {
      it(`with ${title}: 400, and nothing becomes visible`, async () => {
        await using service = await start()
        expectOk(await service.anna.upload('a.txt', 'old'))
        expectError(await sendForm(service, body), 400, malformed)
        await expectOldFile(service)
      })
    }

    it('for want of a boundary in the content type, or with a boundary beyond 70 characters', async () => {
      await using service = await start()
      for (const parameter of [
        '',
        '; boundary=',
        '; boundary=""',
        `; boundary=${'x'.repeat(71)}`,
      ]) {
        const type = { 'Content-Type': `multipart/form-data${parameter}` }
        expectError(await sendForm(service, whole, type), 400, malformed)
      }
    })

    it('for want of quotes around a boundary that is no token', async () => {
      await using service = await start()
      const type = { 'Content-Type': 'multipart/form-data; boundary=----=_Part_0' }
      const message = `${malformed}: the boundary in the content type must be in quotes`
      for (const path of ['/upload', '/upload/batch']) {
        expectError(await sendForm(service, whole, type, path), 400, message)
      }
    })

    it('of which the HTTP body itself is malformed: a broken chunk size', async () => {
      await using service = await start()
      const headers = { 'Content-Type': formType, 'Transfer-Encoding': 'chunked' }
      const head = requestHead('POST', '/upload', { ...service.anna.headers, ...headers })
      const answer = await service.exchange(
        head,
        `10\r\n${whole.toString().slice(0, 16)}\r\nZZ\r\n`,
      )
      expectError(answer, 400, malformed)
      expect(await service.anna.names()).to.deep.equal([])
    })

    it('is distinguished from multipart that is merely unusual: preamble, epilogue, quoted boundary, no last CRLF', async () => {
      await using service = await start()
      const unusual = [
        Buffer.concat([Buffer.from('preamble\r\n'), whole]),
        Buffer.concat([whole, Buffer.from('epilogue')]),
        whole.subarray(0, -2),
      ]
      for (const body of unusual) expectOk(await sendForm(service, body))
      const quoted = {
        'Content-Type': `Multipart/Form-Data; charset=utf-8; boundary="${boundary}"`,
      }
      expectOk(await sendForm(service, whole, quoted))
      for (const end of [';', ' ; ', ';;']) {
        const type = { 'Content-Type': `multipart/form-data; boundary=${boundary}${end}` }
        expectOk(await sendForm(service, whole, type))
        const batch = await sendForm(service, whole, type, '/upload/batch')
        expect(JSON.parse(batch.bytes.toString())).to.include({ message: 'OK' })
      }
    })
  })

  describe('a form beyond the limits of the parser', () => {
    it('is refused for a huge text field: 413, the old file stays', async () => {
      await using service = await start()
      expectOk(await service.anna.upload('a.txt', 'old'))
      const body = form(filePart('a.txt', 'new'), textPart('note', 'x'.repeat(70_000)))
      expectError(
        await sendForm(service, body),
        413,
        'A text field of the form exceeds 65536 bytes',
      )
      await expectOldFile(service)
    })

    it('is refused for many text fields: 413, the old file stays', async () => {
      await using service = await start()
      expectOk(await service.anna.upload('a.txt', 'old'))
      const fields = Array.from({ length: 101 }, () => textPart('note', 'x'))
      const answer = await sendForm(service, form(filePart('a.txt', 'new'), ...fields))
      expectError(answer, 413, 'More than 100 text fields in the form')
      await expectOldFile(service)
    })

    it('is refused for many parts: 413, the old file stays', async () => {
      await using service = await start()
      expectOk(await service.anna.upload('a.txt', 'old'))
      const parts = Array.from({ length: 2000 }, () => filePart('b', '', 'other'))
      const answer = await sendForm(service, form(filePart('a.txt', 'new'), ...parts))
      expectError(answer, 413, 'More than 1000 parts in the form')
      await expectOldFile(service)
    })

    it('is refused for part headers without end', async () => {
      await using service = await start()
      const disposition = `form-data; name="file"; filename="a.txt"; x="${'x'.repeat(100_000)}"`
      expectError(await sendForm(service, form(part(disposition, 'x'))), 400, malformed)
    })
  })

  describe('a keep-alive connection', () => {
    it('survives a refusal with a small remaining body', async () => {
      await using service = await start()
      using connection = await service.connect()
      const refused = form(filePart('..', 'x'.repeat(50_000)))
      await connection.send(formHead(service, refused.length), refused)
      expect((await connection.answer()).headers.get('connection')).to.not.equal('close')
      await connection.send(formHead(service, whole.length), whole)
      expectOk(await connection.answer())
      expect(await service.anna.text('a.txt')).to.equal('new')
    })

    it('survives a refusal before a request that is sent along with it', async () => {
      await using service = await start()
      using connection = await service.connect()
      const refused = form(filePart('..', 'x'.repeat(50_000)))
      const head = formHead(service, refused.length)
      await connection.send(head, refused, requestHead('GET', '/ping'))
      expectError(await connection.answer(), 400, 'Invalid filename: it is ".."')
      expect((await connection.answer()).bytes.toString()).to.equal('pong')
    })

    it('takes any number of uploads, and nothing of them adds up on it', async () => {
      await using service = await start()
      const warnings: Error[] = []
      const note = (warning: Error) => void warnings.push(warning)
      process.on('warning', note)
      using connection = await service.connect()
      for (let upload = 0; upload < 20; upload++) {
        await connection.send(formHead(service, whole.length), whole)
        expectOk(await connection.answer())
      }
      process.off('warning', note)
      expect(warnings).to.deep.equal([])
    })

    it('carries on behind each kind of refusal', async () => {
      await using service = await start({ maxFileSize: 100 })
      using connection = await service.connect()
      const refusals: Readonly<Record<string, Buffer>> = {
        'File too large': form(filePart('a', 'x'.repeat(101))),
        'More than one file': form(filePart('a', ''), filePart('b', '')),
        'No file': form(textPart('file', '')),
        'Malformed multipart body': whole.subarray(0, -4),
      }
      for (const [message, body] of Object.entries(refusals)) {
        await connection.send(formHead(service, body.length), body)
        const answer = await connection.answer()
        expectError(answer, message === 'File too large' ? 413 : 400, message)
      }
      await connection.send(requestHead('GET', '/ping'))
      expect((await connection.answer()).bytes.toString()).to.equal('pong')
    })
  })
}
