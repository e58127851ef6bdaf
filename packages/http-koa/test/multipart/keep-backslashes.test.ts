import { once } from 'node:events'
import busboy, { type FileInfo } from 'busboy'
import { expect } from 'chai'
import { keepBackslashes } from '../../src/multipart/keep-backslashes.ts'

async function filenameOf(disposition: string): Promise<string | undefined> {
  const parser = busboy({
    headers: { 'content-type': 'multipart/form-data; boundary=B' },
    preservePath: true,
    defParamCharset: 'utf8',
  })
  keepBackslashes(parser)
  parser.on('file', (_name, stream) => stream.resume())
  const file = once(parser, 'file') as Promise<[string, unknown, FileInfo]>
  parser.end(
    `--B\r\nContent-Disposition: form-data; name="file"; ${disposition}\r\n\r\nx\r\n--B--\r\n`,
  )
  const [, , { filename }] = await file
  return filename
}

describe('keepBackslashes', () => {
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
      expect(await filenameOf(disposition)).to.equal(filename)
    })
  }
})
