import { curl } from '@holdfast/testing'
import { expect } from 'chai'
import { expectError, expectOk, type Answer } from '../support/answer.ts'
import { expectNoLitter } from '../support/expect-no-litter.ts'
import { boundary, filePart, form, formType, part, textPart } from '../support/form.ts'
import { requestHead } from '../support/request-head.ts'
import type { RunningService, StartService } from '../support/running-service.ts'

const stored = (filename: string) => ({ filename, statusCode: 200, message: 'OK' })
const refused = (filename: string, statusCode: number, error: string, message: string) => ({
  filename,
  statusCode,
  error,
  message,
})

function batchHead(service: RunningService, length: number): Buffer {
  return requestHead('POST', '/upload/batch', {
    ...service.anna.headers,
    'Content-Type': formType,
    'Content-Length': length,
  })
}

function sendBatch(service: RunningService, body: Buffer): Promise<Answer> {
  return service.exchange(batchHead(service, body.length), body)
}

/** The lines of an answer, without the entity tags that those of stored files have. */
function linesOf(text: Buffer): readonly unknown[] {
  const lines = text.toString().split('\n')
  expect(lines.pop()).to.equal('')
  return lines.map((line) => {
    const { etag, ...rest } = JSON.parse(line) as Record<string, unknown>
    if (rest['statusCode'] === 200) expect(etag).to.match(/^"[^"]+"$/)
    else expect(etag).to.equal(undefined)
    return rest
  })
}

export function uploadBatch(start: StartService): void {
  describe('POST /upload/batch', () => {
    it('stores many file parts, one JSON line each, in order', async () => {
      await using service = await start()
      const answer = await sendBatch(service, form(filePart('b', '1'), filePart('a', '22')))
      expect(answer.status).to.equal(200)
      expect(answer.headers.get('content-type')).to.equal('application/x-ndjson; charset=utf-8')
      expect(linesOf(answer.bytes)).to.deep.equal([stored('b'), stored('a')])
      expect(await service.anna.names()).to.deep.equal(['a', 'b'])
      expect(await service.anna.text('a')).to.equal('22')
    })

    it('says which entity tags the files have got', async () => {
      await using service = await start()
      const { bytes } = await sendBatch(service, form(filePart('b', '1'), filePart('a', '22')))
      const said = bytes
        .toString()
        .trimEnd()
        .split('\n')
        .map((line) => (JSON.parse(line) as { etag: string }).etag)
      const served = await Promise.all(
        ['b', 'a'].map((name) => service.anna.send('GET', `/serve/${name}`)),
      )
      expect(said).to.deep.equal(served.map(({ headers }) => headers.get('etag')))
    })

    it('refuses each on its own, with the answers of POST /upload', async () => {
      await using service = await start({ maxFileSize: 10 })
      const tooLarge = filePart('large', 'x'.repeat(11))
      const body = form(filePart('a', '1'), filePart('..', '2'), tooLarge, filePart('b', '3'))
      expect(linesOf((await sendBatch(service, body)).bytes)).to.deep.equal([
        stored('a'),
        refused('..', 400, 'Bad Request', 'Invalid filename: it is ".."'),
        refused('large', 413, 'Payload Too Large', 'File too large'),
        stored('b'),
      ])
      expect(await service.anna.names()).to.deep.equal(['a', 'b'])
      await expectNoLitter(service)
    })

    it('knows the same rules: paths, other fields and create-only', async () => {
      await using service = await start()
      expectOk(await service.anna.upload('a', 'old'))
      const other = filePart('o', 'x', 'other')
      const body = form(
        textPart('file', 'x'),
        other,
        filePart('dir/a', 'new'),
        filePart('b', 'new'),
      )
      const { bytes } = await service.anna.send('POST', '/upload/batch', {
        headers: { 'Content-Type': formType, 'If-None-Match': '*' },
        body,
      })
      expect(linesOf(bytes)).to.deep.equal([
        refused('dir/a', 412, 'Precondition Failed', 'Precondition Failed'),
        stored('b'),
      ])
      expect(await service.anna.text('a')).to.equal('old')
    })

    it('takes file names as POST /upload does: quotes of fetch and of curl, backslashes, filename*', async () => {
      await using service = await start()
      const body = new FormData()
      for (const name of ['say "hi"', 'a\\b', '%41', 'line\nbreak'])
        body.append('file', new Blob([]), name)
      const fromFetch = await service.anna.send('POST', '/upload/batch', { body })
      const control = 'Invalid filename: it contains a control character'
      expect(linesOf(fromFetch.bytes)).to.deep.equal([
        ...['say "hi"', 'a\\b', '%41'].map(stored),
        refused('line\nbreak', 400, 'Bad Request', control),
      ])
      const star = "form-data; name=file; filename=x; filename*=UTF-8''%E4%BD%A0"
      const raw = await sendBatch(service, form(filePart('\\"', ''), part(star, '')))
      expect(linesOf(raw.bytes)).to.deep.equal([stored('"'), stored('你')])
      expect(await service.anna.names()).to.deep.equal(['"', '%41', 'a\\b', 'say "hi"', '你'])
    })

    it('takes many -F of one curl', async () => {
      await using service = await start()
      const names = Array.from({ length: 20 }, (_, index) => `file ${index}`)
      const files = names.flatMap((name) => ['-F', `file=@/dev/null;filename=${name}`])
      const auth = ['-H', 'x-auth-name: anna', '-H', 'x-auth-password: correct horse']
      const { stdout } = await curl([...auth, ...files, `${service.url}/upload/batch`])
      expect(linesOf(stdout)).to.deep.equal(names.map(stored))
    })

    it('answers a line as soon as its file is safe, while the next is on its way', async () => {
      await using service = await start()
      const body = form(filePart('a', '1'), filePart('b', '2'))
      const second = body.lastIndexOf(`--${boundary}\r\n`)
      using connection = await service.connect()
      await connection.send(batchHead(service, body.length), body.subarray(0, second + 100))
      while (!connection.unread().includes(JSON.stringify(stored('a')).slice(0, -1)))
        await connection.arrival()
      expect(await service.anna.names()).to.deep.equal(['a'])
      await connection.send(body.subarray(second + 100))
      const { bytes } = await connection.answer()
      expect(linesOf(bytes)).to.deep.equal([stored('a'), stored('b')])
    })

    it('ends with a line that says so when the form breaks off; the files before it stay', async () => {
      await using service = await start()
      const body = form(filePart('a', '1'), filePart('b', '2')).subarray(0, -30)
      const lines = linesOf((await sendBatch(service, body)).bytes)
      expect(lines[0]).to.deep.equal(stored('a'))
      expect(lines.at(-1)).to.include({ statusCode: 400, message: 'Malformed multipart body' })
      expect(await service.anna.names()).to.deep.equal(['a'])
      await expectNoLitter(service)
    })

    it('answers Malformed multipart body where the form is broken from the start', async () => {
      await using service = await start()
      for (const body of [
        `--${boundary}`,
        'no boundary at all',
        `--${boundary}\r\nbroken\r\n\r\n`,
      ]) {
        const answer = await sendBatch(service, Buffer.from(body))
        expectError(answer, 400, 'Malformed multipart body')
      }
    })

    it('ends with 413 where a text field is huge; exactly the files with an OK line are there', async () => {
      await using service = await start()
      const huge = textPart('note', 'x'.repeat(70_000))
      const body = form(filePart('a', '1'), huge, filePart('b', '2'))
      const lines = linesOf((await sendBatch(service, body)).bytes)
      expect(lines.at(-1)).to.include({ statusCode: 413 })
      const names = await service.anna.names()
      expect(names[0]).to.equal('a')
      expect(lines.slice(0, -1)).to.deep.equal(names.map(stored))
    })

    it('answers No file where there is none, and where the body is not multipart', async () => {
      await using service = await start()
      expectError(await sendBatch(service, form(textPart('file', 'x'))), 400, 'No file')
      const { anna } = service
      expectError(await anna.send('POST', '/upload/batch', { body: 'x' }), 400, 'No file')
    })
  })
}
