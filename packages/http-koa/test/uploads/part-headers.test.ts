import { once } from 'node:events'
import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import busboy, { type FileInfo } from 'busboy'
import { expect } from 'chai'
import { changePartHeaders, type PartHeaders } from '../../src/uploads/patch-busboy.ts'

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
