import { once } from 'node:events'
import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import busboy, { type FileInfo } from 'busboy'
import { expect } from 'chai'
import { takeNamesLiterally } from '../../src/multipart/take-names-literally.ts'

function part(disposition: string, content: string): Buffer {
  const header = `Content-Disposition: form-data; name="file"; ${disposition}`
  return Buffer.from(`--B\r\n${header}\r\n\r\n${content}\r\n--B--\r\n`)
}

/** What busboy finds in a form that arrives in these pieces. */
async function parse(...pieces: readonly Buffer[]) {
  const parser = busboy({
    headers: { 'content-type': 'multipart/form-data; boundary=B' },
    preservePath: true,
    defParamCharset: 'utf8',
  })
  takeNamesLiterally(parser)
  const file = once(parser, 'file') as Promise<[string, Readable, FileInfo]>
  for (const piece of pieces) parser.write(piece)
  parser.end()
  const [, stream, { filename }] = await file
  return { filename, content: await text(stream) }
}

describe('takeNamesLiterally', () => {
  const names: readonly (readonly [disposition: string, filename: string])[] = [
    [String.raw`filename="a\b"`, String.raw`a\b`],
    [String.raw`filename="a\\b"`, String.raw`a\\b`],
    [String.raw`filename="a\\\b"`, String.raw`a\\\b`],
    [String.raw`filename="C:\dir\x.txt"`, String.raw`C:\dir\x.txt`],
    [String.raw`filename="a\"`, 'a\\'],
    [String.raw`filename="a\\"`, String.raw`a\\`],
    [String.raw`filename="a\" `, 'a\\'],
    [String.raw`filename="say \"hi\".txt"`, 'say "hi".txt'],
    [String.raw`filename="plain.txt"`, 'plain.txt'],
    [String.raw`filename="x\y"; filename*=UTF-8''z%5C%5Cz`, String.raw`z\\z`],
  ]
  for (const [disposition, filename] of names) {
    it(`reads ${disposition} as ${filename}`, async () => {
      expect((await parse(part(disposition, 'x'))).filename).to.equal(filename)
    })
  }

  it('marks control characters in headers, and leaves those of the content alone', async () => {
    const controls = '\u0000\u0001\u000b\u001f\u007f'
    const body = part(`filename="a${controls}b"`, controls)
    for (let cut = 0; cut < body.length; cut++) {
      const { filename, content } = await parse(body.subarray(0, cut), body.subarray(cut))
      expect(filename, `cut at ${cut}`).to.equal('a\ufffd\ufffd\ufffd\ufffd\ufffdb')
      expect(content, `cut at ${cut}`).to.equal(controls)
    }
  })

  it('takes a form for broken that has a control character in another header', async () => {
    const header = 'Content-Disposition: form-data; name="file"; filename="a"\r\nX-Other: \u0001'
    const parsing = parse(Buffer.from(`--B\r\n${header}\r\n\r\nx\r\n--B--\r\n`))
    expect(await parsing.catch(String)).to.equal('Error: Malformed part header')
  })
})
