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
   * Called for each part named `file`, and each that cannot be read, in order, with the text fields `sha256` since the file
   * before, as `expectedSha256` takes them. The parser waits until the part's stream has been read.
   */
  readonly onFile: (part: FormPart, digests: readonly string[], form: FormReading) => void
  /** Called once, and at once, with what is wrong with the form. The streams of its parts end with an error then. */
  readonly onFail: (error: Error) => void
  /** How many parts the form may have. Default: any number. */
  readonly maxParts?: number
}

/** A form that is being read. */
export interface FormReading {
  /** Gives the form up. `onFail` is called with `error`, unless it has been called before. */
  readonly fail: (error: Error) => void
  /** The text fields `sha256` since the last file, or the last call. */
  readonly takeDigests: () => readonly string[]
}

/**
 * Reads the form in `request`'s body by `parser`, a busboy that has not read anything. Text fields are counted and
 * dropped, and so are files in other fields. Whoever has set the parser up, all limits, all accounting of parts and all
 * errors are those of this function.
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
      // The stream of a file fails together with the parser, maybe before it has a reader.
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
  // Busboy's own words for a broken form are no answer. It may fail twice, and an error without a listener ends the process.
  parser.on('error', () => fail(problems.malformedMultipart()))
  request.once('close', () => {
    if (!request.readableEnded) fail(problems.malformedMultipart())
  })
  watchBodyLength(request, fail)
  inviteBody(request)
  request.pipe(parser)
  // The client may have left while its login waited, maybe after the whole of a form that was right; no event follows then.
  if (isClosed(request) && !request.readableEnded) fail(problems.truncatedBody())
  return form
}

/**
 * Headers of which busboy makes a `file` of every part, so that none is passed over without a word. What it calls
 * `filename` is of no use except for whether there is one: there is none for text fields, for names that are empty and
 * for parts that cannot be read.
 */
function headersFor(disposition: FormDisposition | undefined): PartHeaders {
  const name = disposition?.name === 'file' ? 'file' : 'other'
  const filename = disposition?.filename ? '; filename="named"' : ''
  return {
    'content-disposition': [`form-data; name="${name}"${filename}`],
    // Without a name, the type makes it a file.
    'content-type': ['application/octet-stream'],
  }
}

/** The text fields of a form. They are counted and not kept, except for digests. */
interface TextFields {
  /** Reads the field `name`, whose value is `stream`. */
  readonly read: (name: string, stream: Readable) => void
  /**
   * The fields `sha256` since the last call, as `expectedSha256` takes them. No more of them is kept than it takes to
   * see that they are wrong.
   */
  readonly takeDigests: () => readonly string[]
}

/** Characters of a digest; a value that is longer is wrong, whatever follows. */
const digestLength = 64

/** @param fail called with what is beyond the limits */
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
        // Multer's way to write a list or an object is refused as such, and a third digest says no more than a second.
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
