import { once } from 'node:events'
import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import busboy, { type FileInfo } from 'busboy'
import { expect } from 'chai'
import {
  takeBoundariesLiterally,
  changePartHeaders,
  type PartHeaders,
  skipContentNatively,
} from '../../src/uploads/patch-busboy.ts'

const file = '--B\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\ncontent\r\n'
const end = '--B--\r\n'
/** The parser loses what follows the closing boundary at once, and would find what is behind that. */
const lost = '--B\r\nX-Lost: yes\r\n\r\n\r\n'

/** How many files busboy finds in a form, which arrives in these pieces. */
async function filesIn(...pieces: readonly string[]): Promise<number> {
  const parser = busboy({ headers: { 'content-type': 'multipart/form-data; boundary=B' } })
  takeBoundariesLiterally(parser)
  let files = 0
  parser.on('file', (_name, stream) => {
    files++
    stream.resume()
  })
  for (const piece of pieces) parser.write(piece)
  parser.end()
  await once(parser, 'close')
  return files
}

describe('takeBoundariesLiterally', () => {
  for (const [what, epilogue, files] of [
    ['nothing', '', 1],
    ['text', 'text', 1],
    ['a file', file + end, 1],
    ['two files', file + file + end, 1],
    ['a file behind a part', lost + file + end, 1],
    ['a file without an end', lost + file, 1],
    ['another end, and a file', end + file + file, 1],
  ] as const) {
    it(`has busboy find nothing behind the closing boundary where there is ${what}`, async () => {
      expect(await filesIn(file + end + epilogue)).to.equal(files)
      expect(await filesIn(file + end, epilogue)).to.equal(files)
      expect(await filesIn(...Array.from(file + end + epilogue))).to.equal(files)
    })
  }

  for (const headers of [
    '',
    'X: y\r\n',
    'Content-Disposition: form-data; name="file"; filename="b"\r\n',
  ]) {
    it(`has busboy refuse ${JSON.stringify(headers)} for the headers of a part, without a blank line`, async () => {
      for (const next of [lost, file]) {
        const form = `${file}--B\r\n${headers}\r\n${next}${end}`
        for (const pieces of [[form], Array.from(form)]) {
          const error = await filesIn(...pieces).catch(String)
          expect(error, form).to.include('Malformed part header')
        }
      }
    })
  }

  for (const padding of [' ', '\t', ' \t  ', ' '.repeat(100_000)]) {
    it(`has busboy pass over ${JSON.stringify(padding.slice(0, 9))} behind a boundary`, async () => {
      const padded = (text: string) => text.replaceAll(/^--B(?:--)?/gm, `$&${padding}`)
      const form = padded(file + file + end)
      expect(await filesIn(form), 'whole').to.equal(2)
      expect(await filesIn(form.slice(0, 3), form.slice(3)), 'in two pieces').to.equal(2)
      if (padding.length > 9) return
      expect(await filesIn(...Array.from(form)), 'in pieces').to.equal(2)
    })
  }

  for (const rest of ['', '\r', '-', 'x', ' x', ' -', ' --', ' \r', '-x', '\n', '\0', '\r\n\r']) {
    it(`has busboy refuse a boundary that ${JSON.stringify(rest)} stands behind`, async () => {
      for (const before of ['', file]) {
        const form = `${before}--B${rest}\r\n${file}${end}`
        for (const pieces of [[form], Array.from(form)]) {
          expect(await filesIn(...pieces).catch(String), form).to.include('Malformed')
        }
      }
    })
  }

  it('changes nothing of what is before it', async () => {
    expect(await filesIn(file + file + lost + file + end)).to.equal(3)
    expect(await filesIn('preamble\r\n', file, end)).to.equal(1)
  })
})

const disposition = 'Content-Disposition: form-data; name="file"; filename='

const form = (headers: string, content: string) =>
  Buffer.from(`--B\r\n${headers}\r\n\r\n${content}\r\n--B--\r\n`)

/** What busboy finds in a form that arrives in these pieces. */
async function parse(
  pieces: readonly Buffer[],
  change: (headers: PartHeaders) => PartHeaders | undefined = (headers) => headers,
) {
  const parser = busboy({
    headers: { 'content-type': 'multipart/form-data; boundary=B' },
    defParamCharset: 'utf8',
  })
  changePartHeaders(parser, change)
  const file = once(parser, 'file') as Promise<[string, Readable, FileInfo]>
  for (const piece of pieces) parser.write(piece)
  parser.end()
  const [, stream, { filename }] = await file
  return { filename, content: await text(stream) }
}

describe('changePartHeaders', () => {
  it('gives busboy other headers than those that have arrived', async () => {
    const seen: PartHeaders[] = []
    const { filename } = await parse([form(`${disposition}"a"\r\nX-Y: z`, 'x')], (headers) => {
      seen.push({ ...headers })
      return { 'content-disposition': ['form-data; name="file"; filename="b"'] }
    })
    expect(seen).to.deep.equal([
      { 'content-disposition': ['form-data; name="file"; filename="a"'], 'x-y': ['z'] },
    ])
    expect(filename).to.equal('b')
  })

  it('breaks a form where there are none', async () => {
    const parsing = parse([form(`${disposition}"a"`, 'x')], () => undefined)
    expect(await parsing.catch(String)).to.equal('Error: Malformed part header')
  })

  it('marks control characters in headers, and leaves those of the content alone', async () => {
    const controls = '\u0000\u0001\u000b\u001f\u007f'
    const body = form(`${disposition}"a${controls}b"`, controls)
    for (let cut = 0; cut < body.length; cut++) {
      const { filename, content } = await parse([body.subarray(0, cut), body.subarray(cut)])
      expect(filename, `cut at ${cut}`).to.equal('a\ufffd\ufffd\ufffd\ufffd\ufffdb')
      expect(content, `cut at ${cut}`).to.equal(controls)
    }
  })

  it('takes a form for broken that has a control character in another header', async () => {
    const parsing = parse([form(`${disposition}"a"\r\nX-Other: \u0001`, 'x')])
    expect(await parsing.catch(String)).to.equal('Error: Malformed part header')
  })
})

const boundary = 'holdfast-0123'
const delimiter = `\r\n--${boundary}`

/** What busboy finds in a form that arrives in pieces of `length` bytes: names and contents of files, or an error. */
async function contentsIn(form: Buffer, length: number, change: typeof skipContentNatively) {
  const contentType = `multipart/form-data; boundary=${boundary}`
  const parser = busboy({ headers: { 'content-type': contentType } })
  change(parser)
  const found: string[] = []
  parser.on('file', (name, stream) => {
    const at = found.push(name) - 1
    stream.on('data', (chunk: Buffer) => (found[at] = `${found[at]}${chunk.toString('latin1')}`))
    stream.on('error', () => {})
  })
  for (let at = 0; at < form.length; at += length) parser.write(form.subarray(at, at + length))
  parser.end()
  await once(parser, 'close').catch((error: unknown) => found.push(String(error)))
  return found
}

const part = (content: string) =>
  `${delimiter}\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n${content}`

describe('skipContentNatively', () => {
  for (const [what, contents] of [
    ['nothing', ['']],
    ['no line break', ['x'.repeat(1000)]],
    ['line breaks', ['\r\n'.repeat(500), '\r'.repeat(300), '\r\n-'.repeat(300)]],
    ['beginnings of the boundary', [delimiter.slice(0, -1).repeat(30), '\r\n--x'.repeat(100)]],
    ['letters of the boundary', [boundary.repeat(100), `${boundary}\r`]],
  ] as const) {
    it(`has busboy find what it would find without it where contents have ${what}`, async () => {
      const whole = Buffer.from(`${contents.map(part).join('')}${delimiter}--\r\n`)
      for (const form of [whole, whole.subarray(2), whole.subarray(0, -5)]) {
        for (const length of [1, 2, 3, 16, 17, 18, 100, 64 * 1024]) {
          const expected = await contentsIn(form, length, () => {})
          expect(await contentsIn(form, length, skipContentNatively)).to.deep.equal(expected)
        }
      }
      expect(await contentsIn(whole, 100, skipContentNatively)).to.deep.equal(
        contents.map((content) => `file${content}`),
      )
    })
  }

  it('leaves to busboy only data in which a boundary may begin', async () => {
    const pushed: number[] = []
    const watching: typeof skipContentNatively = (parser) => {
      const search = parser._bparser as { push: (data: Buffer, start: number) => number }
      const push = search.push.bind(search)
      search.push = (data, start) => {
        pushed.push(data.length)
        return push(data, start)
      }
      skipContentNatively(parser)
    }
    const form = Buffer.from(`${part('x'.repeat(5000))}${delimiter}--\r\n`)
    await contentsIn(form, 1000, watching)
    expect(pushed).to.deep.equal([1000, form.length % 1000])
  })
})
