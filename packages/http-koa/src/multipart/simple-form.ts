import type { IncomingMessage } from 'node:http'
import { takeBodyAtHand } from '../body/body-at-hand.ts'

/** The file of a form that holds nothing else. */
export interface SimpleForm {
  /** Letters, digits and the like, so that all ways to read it are the same. */
  readonly filename: string
  readonly content: Buffer
}

/**
 * Takes the form of `request` where all of it has arrived, and where it is so simple that there is one way to read it: a
 * file called `file` with a plain name, and nothing around it. Small files are sent like that as a rule, and a parser of
 * streams takes longer for them than the disk does. Any other form is left as it is, to be read in full.
 */
export function takeSimpleForm(request: IncomingMessage): SimpleForm | undefined {
  const boundary = simpleType.exec(request.headers['content-type'] ?? '')?.[1]
  const body = boundary === undefined ? undefined : takeBodyAtHand(request)
  if (boundary === undefined || body === undefined) return undefined
  const form = readSimpleForm(body, boundary)
  if (form) request.resume()
  else request.unshift(body)
  return form
}

/** As browsers, curl and libraries write it; no boundary of this kind is longer than RFC 2046 allows, either. */
const simpleType = /^multipart\/form-data; boundary=([\w-]{1,70})$/

const simpleHead =
  /^[Cc]ontent-[Dd]isposition: form-data; name="file"; filename="([\w.-]+)"(?:\r\n[Cc]ontent-[Tt]ype: [\w.+-]+\/[\w.+-]+)?$/

/** The longest head of a part that is looked at, in bytes: a long name, and a long type. */
const headLimit = 512

/** The simple form that `body` is; `undefined` where it is not whole, or anything else. */
export function readSimpleForm(body: Buffer, boundary: string): SimpleForm | undefined {
  const delimiter = `\r\n--${boundary}`
  const opening = `--${boundary}\r\n`
  if (body.toString('latin1', 0, opening.length) !== opening) return undefined
  const start = body.subarray(0, opening.length + headLimit).indexOf('\r\n\r\n')
  const head = body.toString('latin1', opening.length, Math.max(opening.length, start))
  const filename = simpleHead.exec(head)?.[1]
  if (filename === undefined) return undefined
  // From the line break before the blank line on: one that ends the head is none of the content.
  const end = body.indexOf(delimiter, start + 2, 'latin1')
  const content = body.subarray(start + 4, Math.max(start + 4, end))
  const rest = body.toString('latin1', end + delimiter.length)
  const isWhole = end >= start + 4 && (rest === '--\r\n' || rest === '--')
  return isWhole ? { filename, content } : undefined
}
