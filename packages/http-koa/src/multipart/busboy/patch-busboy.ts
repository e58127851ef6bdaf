import type { Readable, Writable } from 'node:stream'
import { problems } from '../../errors/problem.ts'
import { readFormDisposition, type FormDisposition } from '../syntax/form-disposition.ts'
import { changePartHeaders, type PartHeaders } from './part-headers.ts'
import { skipContentNatively } from './skip-content-natively.ts'
import { takeBoundariesLiterally } from './take-boundaries-literally.ts'

/** A part of a form whose content arrives. */
export interface ArrivingPart {
  /** What the part says of itself; `undefined` where that cannot be read. */
  readonly disposition: FormDisposition | undefined
  readonly stream: Readable
}

export interface FormPatches {
  /**
   * The headers that busboy reads in place of those that have arrived.
   *
   * @throws HttpProblem which breaks the form
   */
  readonly headersFor: (
    disposition: FormDisposition | undefined,
    arrived: PartHeaders,
  ) => PartHeaders
  /** Called before any other listener for each part that busboy takes for a file. */
  readonly onPart: (part: ArrivingPart) => void
  /** Called with what `headersFor` has thrown, and for a part that is not sent as it is. */
  readonly fail: (error: Error) => void
}

/** Makes busboy read forms as all of holdfast does. To be called before the parser is given the first byte. */
export function patchBusboy(parser: Writable, { headersFor, onPart, fail }: FormPatches): void {
  let disposition: FormDisposition | undefined
  takeBoundariesLiterally(parser)
  skipContentNatively(parser)
  changePartHeaders(parser, (arrived) => {
    disposition = readFormDisposition(arrived['content-disposition'])
    try {
      refuseEncoded(arrived)
      return headersFor(disposition, arrived)
    } catch (error) {
      fail(error as Error)
      return undefined
    }
  })
  parser.prependListener('file', (_name: string, stream: Readable) => {
    onPart({ disposition, stream })
  })
}

/** The encodings of RFC 2045 §6 that leave the content as it is. */
const plainEncoding = /^(?:binary|8bit|7bit)?$/i

/**
 * Refuses a part in base64 or the like, as mail has it; RFC 7578 §4.7 forbids to send one. Its text would be stored in place
 * of what it stands for, and a digest compared with it.
 *
 * @throws HttpProblem 400
 */
function refuseEncoded({ 'content-transfer-encoding': encodings = [] }: PartHeaders): void {
  if (encodings.every((encoding) => plainEncoding.test(encoding.trim()))) return
  throw problems.malformedMultipart('Content-Transfer-Encoding must be binary, 8bit or 7bit')
}

/** Calls `fail` if a file without a name has content. Without any it is the field of a form where no file was chosen. */
export function refuseNameless(
  { disposition, stream }: ArrivingPart,
  fail: (error: Error) => void,
): void {
  if (disposition?.filename !== '') return
  stream.once('data', () => fail(problems.invalidFilename('it is empty')))
}
