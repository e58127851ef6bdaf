import type { IncomingMessage } from 'node:http'
import type { Writable } from 'node:stream'
import { watchBodyLength } from '../../body/intact-body.ts'
import { problems } from '../../errors/problem.ts'
import { inviteBody } from '../../exchange/invite-body.ts'
import type { FormDisposition } from '../syntax/form-disposition.ts'
import type { PartHeaders } from './part-headers.ts'
import { patchBusboy, type ArrivingPart } from './patch-busboy.ts'
import { createTextFields } from './text-fields.ts'

/** A file in a part named `file`, or a part that cannot be read, as it arrives. */
export interface FilePart extends ArrivingPart {
  /** The text fields `sha256` since the file before, as `expectedSha256` takes them. */
  readonly digests: readonly string[]
}

export interface FormReader {
  /** Called for each such part, in order. The parser waits until its stream has been read. */
  readonly onFile: (part: FilePart, form: FormReading) => void
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
        onFile({ disposition, stream, digests: takeDigests() }, form)
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
