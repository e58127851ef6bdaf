import { once } from 'node:events'
import busboy from 'busboy'
import { expect } from 'chai'
import { skipContentNatively } from '../../src/uploads/patch-busboy.ts'

const boundary = 'holdfast-0123'
const delimiter = `\r\n--${boundary}`

/** What busboy finds in a form that arrives in pieces of `length` bytes: names and contents of files, or an error. */
async function filesIn(form: Buffer, length: number, change: typeof skipContentNatively) {
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
          const expected = await filesIn(form, length, () => {})
          expect(await filesIn(form, length, skipContentNatively)).to.deep.equal(expected)
        }
      }
      expect(await filesIn(whole, 100, skipContentNatively)).to.deep.equal(
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
    await filesIn(form, 1000, watching)
    expect(pushed).to.deep.equal([1000, form.length % 1000])
  })
})
