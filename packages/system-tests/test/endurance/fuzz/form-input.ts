import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { dispositions, type WriteDisposition } from './form-dispositions.ts'
import { mutate, mutations } from './mutations.ts'

/** A form, and how it is sent. */
export interface FormInput {
  readonly isBatch: boolean
  readonly boundary: string
  readonly contentType: string
  readonly body: Buffer
  /** Where the body is cut when it is sent in chunks. */
  readonly cuts: readonly number[]
  /**
   * How many lines a batch has for its parts, at least and at most: one for each called `file` that has a name for a file,
   * whether that can be read or not, and maybe one for another that cannot be read. Left out where it is not sure what
   * the parts are.
   */
  readonly lines?: readonly [least: number, most: number]
}

interface PartInput {
  readonly name: string
  readonly filename: string | undefined
  readonly write: WriteDisposition
  readonly lines: readonly string[]
  readonly content: Buffer
  readonly hasDigest: boolean
}

const boundaries = fc.oneof(
  fc.constantFrom('b', 'boundary', '----WebKitFormBoundary7MA4YWxkTrZu0gW', '-'.repeat(70)),
  fc.string({
    unit: fc.constantFrom(...Array.from("abcXYZ019'()+_-./:?")),
    minLength: 1,
    maxLength: 70,
  }),
)

const filenames = fc.oneof(
  fc.constantFrom('a.txt', 'kept', 'b', '.', '..', 'a b ', '__proto__', 'CON', 'x'.repeat(256)),
  fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 }),
  fc.string({
    unit: fc.constantFrom(...Array.from('ab/\\"%&+;=\u00e9\u{1f600} .')),
    minLength: 1,
    maxLength: 12,
  }),
)

const names = fc.oneof(
  { weight: 6, arbitrary: fc.constant('file') },
  fc.constantFrom(
    'note',
    'File',
    'sha256',
    '__proto__',
    'a[b][c]',
    'a[]',
    'sha256[]',
    'constructor',
  ),
)

const lines = fc.constantFrom(
  ...['Content-Type: text/plain', 'Content-Type: image/png', 'X-Note: yes', 'X-Range: 1-2'],
  ...['Content-Type: application/octet-stream', 'Content-Type: text/plain; charset=utf-16'],
  ...['Content-Transfer-Encoding: base64', 'Content-Transfer-Encoding: binary'],
  ...['content-disposition: attachment', 'Folded: a\r\n b'],
)

/** Content that comes close to what ends it. */
const contents = (boundary: string) =>
  fc.oneof(
    fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes)),
    fc
      .array(fc.constantFrom('\r', '\n', '-', '--', boundary, boundary.slice(0, -1), 'x', '\0'), {
        maxLength: 12,
      })
      .map((pieces) => Buffer.from(pieces.join(''), 'latin1')),
    fc.nat(200_000).map((size) => Buffer.alloc(size >> 3, 'long content ')),
  )

const parts = (boundary: string): fc.Arbitrary<PartInput[]> =>
  fc.array(
    fc.record({
      name: names,
      filename: fc.option(filenames, { nil: undefined, freq: 8 }),
      write: dispositions,
      lines: fc.oneof({ weight: 3, arbitrary: fc.constant([]) }, fc.array(lines, { maxLength: 2 })),
      content: contents(boundary),
      hasDigest: fc.nat(5).map((number) => number === 5),
    }),
    { maxLength: 4 },
  )

const types = (boundary: string) =>
  fc.oneof(
    { weight: 10, arbitrary: fc.constant(`multipart/form-data; boundary="${boundary}"`) },
    // As most clients write it, where that may be.
    {
      weight: 10,
      arbitrary: fc.constant(
        `multipart/form-data; boundary=${/^[\w-]+$/.test(boundary) ? boundary : `"${boundary}"`}`,
      ),
    },
    fc.constant(`multipart/form-data;charset=utf-8;boundary="${boundary}"`),
    fc.constant(`Multipart/Form-Data; boundary="${boundary}"; x=1`),
    fc.constant(`multipart/form-data; ; boundary="${boundary}" ;`),
  )

/** Forms of all kinds, most of them with something wrong. */
export const formInputs: fc.Arbitrary<FormInput> = boundaries.chain((boundary) =>
  fc
    .record({
      isBatch: fc.nat(3).map((number) => number === 3),
      contentType: types(boundary),
      parts: parts(boundary),
      padding: fc.oneof({ weight: 5, arbitrary: fc.constant('') }, fc.constantFrom(' ', ' \t')),
      changes: fc.oneof(fc.constant([]), mutations(3, [`--${boundary}`, `\r\n--${boundary}`])),
      // As many as there are; the others are beyond the end.
      cuts: fc.oneof(
        { withCrossShrink: true },
        fc.array(fc.nat(400), { maxLength: 8 }),
        fc.constant(everyByte),
      ),
    })
    .map(({ parts, padding, changes, ...how }) => ({
      ...how,
      boundary,
      body: mutate(render(parts, boundary, padding), changes),
      ...(changes.length === 0 && linesFor(parts, boundary)),
    })),
)

function linesFor(parts: readonly PartInput[], boundary: string): Pick<FormInput, 'lines'> {
  // A batch ends at a part that is not sent as it is.
  if (parts.some(({ lines }) => lines.some((line) => line.endsWith('base64')))) return {}
  if (parts.some(({ content }) => content.includes(`--${boundary}`, 0, 'latin1'))) return {}
  const isFile = ({ name, filename }: PartInput) => name === 'file' && filename !== undefined
  const mayBeUnclear = ({ filename, lines }: PartInput) =>
    filename !== undefined || lines.some((line) => line.startsWith('content-disposition'))
  const least = parts.filter(isFile).length
  return { lines: [least, parts.filter(mayBeUnclear).length] }
}

const everyByte = Array.from({ length: 400 }, (_, index) => index)

function render(parts: readonly PartInput[], boundary: string, padding: string): Buffer {
  const bytes = parts.flatMap(({ name, filename, write, lines, content, hasDigest }) => {
    const disposition = filename === undefined ? `form-data; name="${name}"` : write(name, filename)
    const head = [`Content-Disposition: ${disposition}`, ...lines].join('\r\n')
    const whole = [
      Buffer.from(`--${boundary}${padding}\r\n${head}\r\n\r\n`),
      content,
      Buffer.from('\r\n'),
    ]
    return hasDigest ? [digestPart(content, boundary + padding), ...whole] : whole
  })
  return Buffer.concat([...bytes, Buffer.from(`--${boundary}--${padding}\r\n`)])
}

function digestPart(content: Buffer, boundary: string): Buffer {
  const hash = createHash('sha256').update(content).digest('hex')
  const head = 'Content-Disposition: form-data; name="sha256"'
  return Buffer.from(`--${boundary}\r\n${head}\r\n\r\n${hash}\r\n`)
}
