import { expect } from 'chai'
import { exchange } from '@holdfast/testing'
import { isEmpty, oddParts } from '../support/odd-parts.ts'
import {
  customerRequest,
  filePart,
  form,
  formRequest,
  formType,
  part,
  textPart,
} from '../support/request.ts'
import { runApp } from '../support/running-app.ts'

const post = (route: string, body: string) =>
  customerRequest('POST', route, { 'Content-Type': formType }, body)

const linesOf = (body: string) =>
  body
    .split(/[\r\n]+/)
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(Buffer.from(line, 'latin1').toString()) as Record<string, unknown>)

describe('A file in a form', () => {
  // Multer would undo the escape of browsers there, too.
  const escaped = `Content-Disposition: form-data; name="file"; filename*=UTF-8''a%2522`

  for (const [headers, reading] of [...oddParts, [escaped, { name: 'a%22' }]] as const) {
    const means = typeof reading === 'string' ? reading : `the file ${reading.name}`
    const title = JSON.stringify(headers)
    const names = typeof reading === 'string' ? [] : [reading.name]

    it(`is ${means} behind ${title}, for POST /upload`, async () => {
      await using app = await runApp()
      for (const body of [form(part(headers)), form(textPart('note', 'x'), part(headers))]) {
        const { status, body: answer } = await exchange(app.port, formRequest(body))
        const message = status === 200 ? answer : linesOf(answer)[0]?.['message']
        expect([status, message]).to.deep.equal(names.length > 0 ? [200, 'OK'] : [400, means])
        expect(await app.names()).to.deep.equal(names)
        for (const name of names) await app.files.delete(name)
      }
    })

    it(`is ${means} behind ${title}, for POST /upload beside another file`, async () => {
      await using app = await runApp()
      const other = filePart('other.txt')
      for (const parts of [
        [part(headers), other],
        [other, part(headers)],
      ]) {
        const answer = await exchange(app.port, formRequest(form(...parts)))
        expect(answer.status, answer.body).to.equal(400)
        if (names.length > 0) expect(answer.body).to.include('More than one file')
        expect(await app.names()).to.deep.equal([])
      }
    })

    it(`is ${means} behind ${title}, for POST /upload/batch`, async () => {
      await using app = await runApp()
      const parts = [filePart('first.txt'), part(headers), filePart('last.txt')]
      const answer = await exchange(app.port, post('/upload/batch', form(...parts)))
      expect(answer.status).to.equal(200)
      const lines = linesOf(answer.body)
      expect(lines.map(({ message }) => message)).to.deep.equal([
        'OK',
        names.length > 0 ? 'OK' : means,
        'OK',
      ])
      expect(lines[1]?.['filename']).to.equal(names[0] ?? (means === isEmpty ? '' : undefined))
      expect(new Set(await app.names())).to.deep.equal(new Set(['first.txt', ...names, 'last.txt']))
    })
  }
})

describe('The empty file field of a form', () => {
  for (const headers of [
    'Content-Disposition: form-data; name="file"; filename=""',
    'Content-Disposition: form-data; name="file"; filename=""\r\nContent-Type: application/octet-stream',
  ]) {
    it(`is passed over behind ${JSON.stringify(headers)}`, async () => {
      await using app = await runApp()
      const empty = part(headers, '')
      for (const route of ['/upload', '/upload/batch']) {
        const alone = await exchange(app.port, post(route, form(empty)))
        expect([alone.status, linesOf(alone.body)[0]?.['message']]).to.deep.equal([400, 'No file'])
        const beside = await exchange(app.port, post(route, form(empty, filePart('a'), empty)))
        expect(beside.status, beside.body).to.equal(200)
        expect(await app.names()).to.deep.equal(['a'])
        await app.files.delete('a')
      }
    })
  }

  it('leaves a digest to the file behind it', async () => {
    await using app = await runApp()
    const empty = filePart('', '')
    const digest = textPart('sha256', '0'.repeat(64))
    const body = form(digest, empty, filePart('a'))
    const answer = await exchange(app.port, post('/upload/batch', body))
    expect(linesOf(answer.body).map(({ message }) => message)).to.deep.equal(['Digest mismatch'])
  })
})

describe('A text field called sha256', () => {
  it('counts whatever type it has', async () => {
    await using app = await runApp()
    const type = 'Content-Type: application/octet-stream'
    const digest = part(`Content-Disposition: form-data; name="sha256"\r\n${type}`, '0'.repeat(64))
    for (const route of ['/upload', '/upload/batch']) {
      const answer = await exchange(app.port, post(route, form(digest, filePart('a'))))
      expect(answer.body).to.include('Digest mismatch')
      expect(await app.names()).to.deep.equal([])
    }
  })

  /** As gateways do that RFC 2046 §5.1.1 speaks of. */
  const padded = (body: string) => body.replaceAll(/^--boundary-of-a-test(?:--)?/gm, '$& \t')

  it('is found behind a boundary with padding, and so is its digest', async () => {
    await using app = await runApp()
    const wrong = textPart('sha256', '0'.repeat(64))
    for (const parts of [
      [wrong, filePart('a')],
      [filePart('a'), wrong],
    ]) {
      const answer = await exchange(app.port, formRequest(padded(form(...parts))))
      expect(answer.body).to.include('Digest mismatch')
      expect(await app.names()).to.deep.equal([])
    }
    const right = await exchange(app.port, formRequest(padded(form(filePart('a')))))
    expect([right.status, right.body]).to.deep.equal([200, 'OK'])
    expect(await app.names()).to.deep.equal(['a'])
    const batch = padded(form(filePart('b'), wrong, filePart('c'), filePart('d')))
    const { body } = await exchange(app.port, post('/upload/batch', batch))
    const lines = linesOf(body).map(({ filename, message }) => [filename, message])
    expect(lines).to.deep.equal([
      ['b', 'OK'],
      ['c', 'Digest mismatch'],
      ['d', 'OK'],
    ])
    expect(await app.names()).to.deep.equal(['a', 'b', 'd'])
  })

  it('is not stored where a part follows a boundary that is none', async () => {
    await using app = await runApp()
    const body = form(filePart('a'), textPart('sha256', '0'.repeat(64)))
    for (const other of ['x', '\n', ' x']) {
      const broken = body.replace(/(?<=content\r\n--boundary-of-a-test)/, other)
      const answer = await exchange(app.port, formRequest(broken))
      expect(answer.body).to.include('Malformed multipart body')
      expect(await app.names()).to.deep.equal([])
      const batch = await exchange(app.port, post('/upload/batch', broken))
      expect(linesOf(batch.body).at(-1)).to.include({ message: 'Malformed multipart body' })
      for (const name of await app.names()) await app.files.delete(name)
    }
  })

  const disposition = 'Content-Disposition: form-data; name="file"; filename="a"'
  const field = 'Content-Disposition: form-data; name="sha256"'

  for (const encoding of ['base64', 'quoted-printable', 'Base64', 'x-own', '8bit, base64']) {
    it(`is refused in ${encoding}, and so is a field`, async () => {
      await using app = await runApp()
      const encoded = (headers: string) =>
        part(`${headers}\r\ncontent-transfer-encoding: ${encoding}`)
      const message =
        'Malformed multipart body: Content-Transfer-Encoding must be binary, 8bit or 7bit'
      for (const body of [
        form(encoded(disposition)),
        form(encoded(field), filePart('a')),
        form(filePart('a'), encoded(field)),
        form(encoded(disposition.replace('"file"', '"other"')), filePart('a')),
      ]) {
        const { status, body: answer } = await exchange(app.port, formRequest(body))
        expect([status, linesOf(answer)[0]?.['message']]).to.deep.equal([400, message])
        expect(await app.names()).to.deep.equal([])
      }
      const batch = form(filePart('b'), encoded(disposition), filePart('c'))
      const { body } = await exchange(app.port, post('/upload/batch', batch))
      expect(linesOf(body).map((line) => line['message'])).to.deep.equal(['OK', message])
      expect(await app.names()).to.deep.equal(['b'])
    })
  }

  for (const encoding of ['binary', '8BIT', '7bit ', '']) {
    it(`is taken as it is in ${JSON.stringify(encoding)}`, async () => {
      await using app = await runApp()
      const headers = `${disposition}\r\nContent-Transfer-Encoding: ${encoding}`
      const { status } = await exchange(app.port, formRequest(form(part(headers))))
      expect(status).to.equal(200)
      expect(await app.names()).to.deep.equal(['a'])
    })
  }
})
