import { text } from 'node:stream/consumers'
import { curl } from '@holdfast/testing'
import { expect } from 'chai'
import { expectError, expectOk } from '../support/answer.ts'
import { formData } from '../support/customer-client.ts'
import { expectNoLitter } from '../support/expect-no-litter.ts'
import { filePart, form, formType, part, textPart } from '../support/form.ts'
import { requestHead } from '../support/request-head.ts'
import type { RunningService, StartService } from '../support/running-service.ts'
import { sendForm } from '../support/send-form.ts'

const curlAuth = ['-H', 'x-auth-name: anna', '-H', 'x-auth-password: correct horse']

export function uploadForm(start: StartService): void {
  describe('POST /upload', () => {
    it('answers curl -F with 200 and the plain text OK', async () => {
      await using service = await start()
      const args = ['-F', 'file=@-;filename=a.txt', '-w', '|%{http_code}|%{content_type}']
      const { stdout } = await curl([...curlAuth, ...args, `${service.url}/upload`], {
        input: 'hi',
      })
      expect(stdout.toString()).to.match(/^OK\|200\|text\/plain\b/)
      expect(await service.anna.text('a.txt')).to.equal('hi')
    })

    it('takes the FormData of fetch', async () => {
      await using service = await start()
      expectOk(await service.anna.upload('a.txt', 'hi'))
      expect(await service.anna.text('a.txt')).to.equal('hi')
    })

    it('takes a form from node:http, chunked and in single bytes', async () => {
      await using service = await start()
      const headers = { ...service.anna.headers, 'Content-Type': formType }
      const answer = new Promise<string>((resolve, reject) => {
        const upload = service.request('/upload', { method: 'POST', headers })
        upload.on('response', (response) => resolve(text(response))).on('error', reject)
        for (const byte of form(filePart('a.txt', 'hi'))) upload.write(Buffer.of(byte))
        upload.end()
      })
      expect(await answer).to.equal('OK')
      expect(await service.anna.text('a.txt')).to.equal('hi')
    })

    it('keeps every byte: all values, an empty file, boundaries within the content, 5 MiB', async () => {
      await using service = await start()
      const all = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte))
      const contents = {
        all,
        empty: Buffer.alloc(0),
        lookalike: Buffer.from('\r\n--boundary-of-a-tes\r\n--boundary\r\n\r\n--'),
        large: Buffer.alloc(5 * 2 ** 20 + 1, all),
      }
      for (const [name, content] of Object.entries(contents)) {
        expectOk(await service.anna.upload(name, content))
        const served = await service.anna.serve(name)
        expect(served.bytes.equals(content), name).to.equal(true)
      }
    })

    it('answers No file without a body, and where the body is not multipart', async () => {
      await using service = await start()
      const { headers } = service.anna
      const bodiless = requestHead('POST', '/upload', { ...headers, 'Content-Length': 0 })
      expectError(await service.exchange(bodiless), 400, 'No file')
      for (const type of [
        'application/json',
        'application/x-www-form-urlencoded',
        'multipart/mixed',
      ]) {
        const answer = await service.anna.send('POST', '/upload', {
          headers: { 'Content-Type': type },
          body: '{"file": "x"}',
        })
        expectError(answer, 400, 'No file')
      }
      expectError(await service.anna.send('POST', '/upload', { body: 'text' }), 400, 'No file')
    })

    it('answers No file to curl --data', async () => {
      await using service = await start()
      const { stdout } = await curl([...curlAuth, '--data', 'file=x', `${service.url}/upload`])
      expect(JSON.parse(stdout.toString())).to.include({ statusCode: 400, message: 'No file' })
    })
  })

  describe('which part', () => {
    const expectStored = async (service: RunningService, body: Buffer) => {
      expectOk(await sendForm(service, body))
      expect(await service.anna.names()).to.deep.equal(['a.txt'])
      expect(await service.anna.text('a.txt')).to.equal('hi')
    }

    it('is the first part named file that has a filename; text fields are read past', async () => {
      await using service = await start()
      const file = filePart('a.txt', 'hi')
      await expectStored(service, form(textPart('file', 'not me'), textPart('note', 'x'), file))
    })

    it('is found behind and before other files, which are read past', async () => {
      await using service = await start()
      const other = filePart('b.txt', 'x'.repeat(200_000), 'other')
      await expectStored(service, form(other, filePart('a.txt', 'hi'), other))
    })

    it('is No file where only other files and text fields are there', async () => {
      await using service = await start()
      const other = filePart('b.txt', 'x', 'other')
      const upper = filePart('b.txt', 'x', 'File')
      const body = form(other, upper, textPart('file', 'x'))
      expectError(await sendForm(service, body), 400, 'No file')
      expectError(await sendForm(service, form()), 400, 'No file')
      expect(await service.anna.names()).to.deep.equal([])
    })

    it('is No file for the empty file input of a browser', async () => {
      await using service = await start()
      const answer = await service.anna.send('POST', '/upload', { body: formData('', '') })
      expect(answer.status).to.equal(400)
      const disposition = 'form-data; name="file"; filename=""'
      const empty = form(part(disposition, '', 'application/octet-stream'))
      expectError(await sendForm(service, empty), 400, 'No file')
      expect(await service.anna.names()).to.deep.equal([])
    })

    it('is refused when a second file part comes: More than one file, and nothing is stored', async () => {
      await using service = await start()
      const body = form(filePart('a.txt', 'hi'), textPart('note', 'x'), filePart('b.txt', 'ho'))
      expectError(await sendForm(service, body), 400, 'More than one file')
      expect(await service.anna.names()).to.deep.equal([])
      await expectNoLitter(service)
    })

    it('leaves the old file when a second file part of the same name comes', async () => {
      await using service = await start()
      expectOk(await service.anna.upload('a.txt', 'old'))
      const body = form(filePart('a.txt', 'new'), filePart('a.txt', 'newer'))
      expectError(await sendForm(service, body), 400, 'More than one file')
      expect(await service.anna.text('a.txt')).to.equal('old')
    })
  })
}
