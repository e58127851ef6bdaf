import type { IncomingMessage } from 'node:http'
import type { Readable, Writable } from 'node:stream'
import { problems } from '../http/problems.ts'
import { isClosed } from '../server/connection.ts'
import { inviteBody } from '../server/exchange.ts'
import { watchBodyLength } from '../server/request-body.ts'
import { formLimits, type FormDisposition } from './form-syntax.ts'
import { patchBusboy, type FormPart, type PartHeaders } from './patch-busboy.ts'

export interface FormReader {
  /**
   * Called in order for each part named `file`, and for each part whose headers cannot be read. `digests` are the text fields
   * `sha256` since the file before, for `expectedSha256`. The parser waits until the part's stream has been read.
   */
  readonly onFile: (part: FormPart, digests: readonly string[], form: FormReading) => void
  /** Called at once with the first error of the form, and only with that. The streams of its parts end with an error then. */
  readonly onFail: (error: Error) => void
  /** How many parts the form may have. Default: any number. */
  readonly maxParts?: number
}

/** A form that is being read. */
export interface FormReading {
  /** Stops reading the form. `onFail` is called with `error`, unless it was called before. */
  readonly fail: (error: Error) => void
  /** Returns the text fields `sha256` since the last file, or since the last call. */
  readonly takeDigests: () => readonly string[]
}

/**
 * Reads the form in `request`'s body by `parser`, a busboy that has not read anything. Text fields and files in other fields are
 * counted and dropped. This function alone sets the limits, counts the parts and makes the errors, whatever options the parser
 * has.
 */
export function readForm(
  request: IncomingMessage,
  parser: Writable,
  { onFile, onFail, maxParts = Infinity }: FormReader,
): FormReading {
  let hasFailed = false
  let parts = 0
  const fail = (error: Error) => {
    if (hasFailed) return
    hasFailed = true
    onFail(error)
    parser.destroy(error)
  }
  const { read, takeDigests } = createTextFields(fail)
  const form = { fail, takeDigests }
  patchBusboy(parser, {
    headersFor,
    fail,
    onPart({ disposition, stream }) {
      // The stream of a part fails together with the parser, possibly before it has a reader.
      stream.on('error', () => {})
      if (++parts > maxParts) fail(problems.tooManyParts(maxParts))
      if (hasFailed) return
      if (disposition !== undefined && disposition.filename === undefined) {
        read(disposition.name, stream)
      } else if (disposition === undefined || disposition.name === 'file') {
        onFile({ disposition, stream }, takeDigests(), form)
      } else stream.resume()
    },
  })
  // Busboy's own messages are not for clients. It may fail twice, and an error without a listener would end the process.
  parser.on('error', () => fail(problems.malformedMultipart()))
  request.once('close', () => {
    if (!request.readableEnded) fail(problems.malformedMultipart())
  })
  watchBodyLength(request, fail)
  inviteBody(request)
  request.pipe(parser)
  // If the client left while its login waited, maybe after sending a whole and correct form, no event follows.
  if (isClosed(request) && !request.readableEnded) fail(problems.truncatedBody())
  return form
}

/**
 * Headers that make busboy emit a `file` for every part, so that it skips none silently. For text fields, empty names and parts
 * that cannot be read there is no `filename`; for others it only shows that there is a name.
 */
function headersFor(disposition: FormDisposition | undefined): PartHeaders {
  const name = disposition?.name === 'file' ? 'file' : 'other'
  const filename = disposition?.filename ? '; filename="named"' : ''
  return {
    'content-disposition': [`form-data; name="${name}"${filename}`],
    // This type makes the part a file for busboy even without a name.
    'content-type': ['application/octet-stream'],
  }
}

/** The text fields of a form. They are counted and not kept, except for digests. */
interface TextFields {
  /** Reads the field `name`, whose value is `stream`. */
  readonly read: (name: string, stream: Readable) => void
  /**
   * Returns the fields `sha256` since the last call, for `expectedSha256`. Wrong values are cut, and at most two are kept: enough
   * to see that they are wrong.
   */
  readonly takeDigests: () => readonly string[]
}

/** The length of a digest in characters; every longer value is wrong. */
const digestLength = 64

/** @param fail called with the error when a limit is exceeded */
function createTextFields(fail: (error: Error) => void): TextFields {
  let count = 0
  let digests: string[] = []
  return {
    read(name, stream) {
      if (++count > formLimits.fields) fail(problems.tooManyFields(formLimits.fields))
      let size = 0
      let digest = ''
      const isDigest = name === 'sha256' || name.startsWith('sha256[')
      consume(stream, (chunk) => {
        size += chunk?.length ?? 0
        if (size > formLimits.fieldSize) fail(problems.fieldTooLarge(formLimits.fieldSize))
        if (!isDigest) return
        if (chunk) digest += chunk.toString('latin1', 0, digestLength + 1 - digest.length)
        // A name in multer's syntax for lists and objects counts as a wrong digest. Two digests are wrong already.
        else if (digests.length < 2) digests.push(name === 'sha256' ? digest : '')
      })
    },
    takeDigests() {
      const taken = digests
      digests = []
      return taken
    },
  }
}

/**
 * Calls `take` with each chunk of `stream` as it is pushed, and with `null` at the end. A reader of the stream would get them too
 * late: the parser would go on to the next part before.
 */
function consume(stream: Readable, take: (chunk: Buffer | null) => void): void {
  const push = stream.push.bind(stream)
  stream.push = (chunk: Buffer | null) => {
    take(chunk)
    return chunk === null ? push(null) : true
  }
  stream.resume()
}
