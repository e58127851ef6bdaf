import { once } from 'node:events'
import busboy from 'busboy'
import { expect } from 'chai'
import { takeBoundariesLiterally } from '../../src/uploads/patch-busboy.ts'

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
