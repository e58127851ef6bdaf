import type { Readable, Writable } from 'node:stream'
import { problems } from '../../errors/problem.ts'
import { readFormDisposition, type FormDisposition } from '../syntax/form-disposition.ts'
import { formLimits } from '../syntax/form-limits.ts'
import { changePartHeaders, type PartHeaders } from './part-headers.ts'

/** The parts of a form that is being read. */
export interface FormParts {
  /** What the part says of itself whose content is `stream`; `undefined` where that cannot be read. */
  readonly dispositionOf: (stream: Readable) => FormDisposition | undefined
  /**
   * The text fields `sha256` since the last call, as `expectedSha256` takes them. No more of them is kept than it takes to
   * see that they are wrong.
   */
  readonly takeDigests: () => readonly string[]
}

/**
 * Has busboy emit every part as a `file`, so that none is passed over without a word, and no text field is kept. What it
 * calls `filename` is of no use but for whether there is one: there is none for text fields, for names that are empty and for
 * parts that cannot be read. Text fields are counted and dropped here.
 *
 * @param fail called with what is beyond the limits
 */
export function readParts(parser: Writable, fail: (error: Error) => void): FormParts {
  const dispositions = new WeakMap<Readable, FormDisposition>()
  const fields = createTextFields(fail)
  let current: FormDisposition | undefined
  changePartHeaders(parser, (headers) => {
    current = readFormDisposition(headers['content-disposition'])
    return headersFor(current)
  })
  // Before any other listener, which may ask for the disposition.
  parser.prependListener('file', (_name: string, stream: Readable) => {
    if (current === undefined) return
    dispositions.set(stream, current)
    if (current.filename === undefined) fields.take(current.name, stream)
  })
  return { dispositionOf: (stream) => dispositions.get(stream), takeDigests: fields.takeDigests }
}

/** Headers of which busboy makes a `file`; without a name for one, that depends on the type. */
function headersFor(disposition: FormDisposition | undefined): PartHeaders {
  const name = disposition?.name === 'file' ? 'file' : 'other'
  const filename = disposition?.filename ? '; filename="named"' : ''
  return {
    'content-disposition': [`form-data; name="${name}"${filename}`],
    'content-type': ['application/octet-stream'],
  }
}

/** Characters of a digest; a value that is longer is wrong, whatever follows. */
const digestLength = 64

function createTextFields(fail: (error: Error) => void) {
  let count = 0
  let digests: string[] = []
  return {
    take(name: string, stream: Readable): void {
      if (++count > formLimits.fields) fail(problems.tooManyFields(formLimits.fields))
      let size = 0
      let digest = ''
      const isDigest = name === 'sha256' || name.startsWith('sha256[')
      consume(stream, (chunk) => {
        size += chunk?.length ?? 0
        if (size > formLimits.fieldSize) fail(problems.fieldTooLarge(formLimits.fieldSize))
        if (!isDigest) return
        if (chunk) digest += chunk.toString('latin1', 0, digestLength + 1 - digest.length)
        // Multer's way to write a list or an object is refused as such, and a third digest says no more than a second.
        else if (digests.length < 2) digests.push(name === 'sha256' ? digest : '')
      })
    },
    takeDigests: () => {
      const taken = digests
      digests = []
      return taken
    },
  }
}

/**
 * Hands the chunks of `stream` to `take` as they are pushed, and `null` at the end. To read it would be too late: the
 * parser goes on to the next part meanwhile.
 */
function consume(stream: Readable, take: (chunk: Buffer | null) => void): void {
  const push = stream.push.bind(stream)
  stream.push = (chunk: Buffer | null) => {
    take(chunk)
    return chunk === null ? push(null) : true
  }
  stream.resume()
}
