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
  /** Called with what `headersFor` has thrown. */
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

/** Calls `fail` if a file without a name has content. Without any it is the field of a form where no file was chosen. */
export function refuseNameless(
  { disposition, stream }: ArrivingPart,
  fail: (error: Error) => void,
): void {
  if (disposition?.filename !== '') return
  stream.once('data', () => fail(problems.invalidFilename('it is empty')))
}
