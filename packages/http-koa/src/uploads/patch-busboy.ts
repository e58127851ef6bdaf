import type { Readable, Writable } from 'node:stream'
import { problems } from '../http/problems.ts'
import { formLimits, readFormDisposition, type FormDisposition } from './form-syntax.ts'

/** A part of a form whose content is arriving. */
export interface FormPart {
  /** `undefined` if it cannot be read. */
  readonly disposition: FormDisposition | undefined
  readonly stream: Readable
}

export interface FormPatches {
  /**
   * The headers that busboy reads instead of those that have `arrived`.
   *
   * @throws HttpProblem to refuse the form
   */
  readonly headersFor: (
    disposition: FormDisposition | undefined,
    arrived: PartHeaders,
  ) => PartHeaders
  /** Called for each part that busboy takes as a file, before any other listener. */
  readonly onPart: (part: FormPart) => void
  /** Called with the error that `headersFor` throws, and for a part whose content is encoded. */
  readonly fail: (error: Error) => void
}

/** Makes busboy read forms as the rest of holdfast does. Call this before the parser gets its first byte. */
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

/** The encodings of RFC 2045 §6 that do not change the content. */
const plainEncoding = /^(?:binary|8bit|7bit)?$/i

/**
 * Refuses a part whose content is encoded, as in mail, for example in base64; RFC 7578 §4.7 forbids to send one. Otherwise the
 * encoded text would be stored, and compared with a digest.
 *
 * @throws HttpProblem 400
 */
function refuseEncoded({ 'content-transfer-encoding': encodings = [] }: PartHeaders): void {
  if (encodings.every((encoding) => plainEncoding.test(encoding.trim()))) return
  throw problems.malformedMultipart('Content-Transfer-Encoding must be binary, 8bit or 7bit')
}

/** Calls `fail` if a file without a name has content. Without content it is a field in which no file was chosen. */
export function refuseNameless(
  { disposition, stream }: FormPart,
  fail: (error: Error) => void,
): void {
  if (disposition?.filename !== '') return
  stream.once('data', () => fail(problems.invalidFilename('it is empty')))
}

/** Values by name. Names are in lower case; each character is a byte. */
export type PartHeaders = Record<string, string[]>

/** Returns the headers that busboy gets instead; `undefined` refuses the form. */
type ChangeHeaders = (headers: PartHeaders) => PartHeaders | undefined

/** The members of busboy's parser for a part's headers that are used here. */
interface HeaderParser {
  /** Reads `data` from `start` up to the end of the headers, or to `end`. */
  push: (data: Buffer, start: number, end: number) => number
  cb: (headers: PartHeaders) => void
}

/**
 * Makes busboy use, for each part, the headers that `change` returns. A control character in the disposition is replaced by a
 * byte that is never UTF-8, so that only the name with it is refused; by itself busboy would call the whole form broken.
 *
 * Parts with more header lines than `formLimits` allows are refused, too: busboy drops lines after some number, and would skip a
 * part that has lost its `Content-Disposition`.
 *
 * Busboy 1.6 has no options for this, so the headers are changed before and after its header parser. This version is the last
 * one, of 2022; the tests would notice another.
 */
export function changePartHeaders(parser: Writable, change: ChangeHeaders): void {
  const refuse = () => parser.destroy(new Error('Malformed part header'))
  let current: HeaderParser | null = null
  // Busboy uses one header parser for all parts of a form.
  let intercepted: HeaderParser | undefined
  Object.defineProperty(parser, '_hparser', {
    get: () => current,
    set(next: HeaderParser | null) {
      current = next
      if (next === null || next === intercepted) return
      intercepted = next
      intercept(next, change, refuse)
    },
  })
}

function intercept(headerParser: HeaderParser, change: ChangeHeaders, refuse: () => void): void {
  const { cb } = headerParser
  const push = headerParser.push.bind(headerParser)
  let isMarked = false
  headerParser.push = (data, start, end) => {
    const marked = markControls(data, start, end)
    isMarked ||= marked !== data
    return push(marked, start, end)
  }
  headerParser.cb = (headers) => {
    const { 'content-disposition': _, ...others } = headers
    if (isMarked && Object.values(others).flat().some(hasMark)) return refuse()
    isMarked = false
    if (Object.values(headers).flat().length > formLimits.partHeaders) return refuse()
    const next = change(headers)
    if (next) cb(next)
    else refuse()
  }
}

/** A byte that is never part of UTF-8. */
const mark = 0xff

/** Whether `value` had a control character: outside the disposition it breaks the form, as in busboy itself. */
function hasMark(value: string): boolean {
  return value.includes(String.fromCharCode(mark))
}

/** The most that busboy reads as the headers of a part, in bytes. */
const maxHeaderSize = 16 * 1024

/** `data`; if its headers have control characters, a copy in which marks replace them. */
function markControls(data: Buffer, start: number, end: number): Buffer {
  const blankLine = data.indexOf('\r\n\r\n', start)
  const stop = Math.min(end, blankLine < 0 ? end : blankLine, start + maxHeaderSize)
  let marked: Buffer | undefined
  for (let i = start; i < stop; i++) {
    if (!isControl(data[i] ?? 0)) continue
    // The content after the headers may begin in the same data; it is read from the original.
    marked ??= Buffer.from(data)
    marked[i] = mark
  }
  return marked ?? data
}

/** Whether `byte` is DEL or in C0, except tab and the line breaks, which have a meaning in headers. */
function isControl(byte: number): boolean {
  return (byte < 0x20 && byte !== 0x09 && byte !== 0x0a && byte !== 0x0d) || byte === 0x7f
}

/** Called with each piece of content that is found; `isMatch` if a boundary follows it. */
type OnFound = (
  isMatch: boolean,
  data?: Buffer,
  start?: number,
  end?: number,
  isSafe?: boolean,
) => void

/** The members of busboy's parser that are used here: its search for boundaries and, while it reads headers, its header parser. */
interface BoundaryParser extends Writable {
  _bparser?: { _cb?: OnFound }
  readonly _hparser?: unknown
}

/**
 * Makes busboy treat every boundary as a boundary:
 *
 * - Everything after the closing boundary is ignored (RFC 2046 §5.1.1). Busboy itself ignores only the following chunks, and
 *   reads the rest of this chunk as if the form continued: it would store files in it, or, if such a file has no end, wait for
 *   that end forever.
 * - Spaces and tabs after a boundary are ignored. Anything else but a line break breaks the form. In both cases busboy itself
 *   would skip the part, and a digest in it would not be checked.
 * - A boundary in the headers of a part breaks the form. Busboy itself would read on, and take the next part with its headers as
 *   the content of this part.
 *
 * At the closing boundary, busboy 1.6 replaces its search while the old search still reads the chunk, so the old one is silenced.
 */
export function takeBoundariesLiterally(parser: BoundaryParser): void {
  let current = parser._bparser
  const onFound = current?._cb
  if (current === undefined || onFound === undefined) throw new TypeError('Not as busboy 1.6 is')
  const search = current
  const tail = createBoundaryTail()
  const refuse = (what: string) => parser.destroy(new Error(`Malformed ${what}`))
  current._cb = (isMatch, data, start = 0, end = 0, isSafe) => {
    if (data) {
      const from = tail.read(data, start, end)
      if (from === undefined) return refuse('boundary')
      if (from < end) onFound(false, data, from, end, isSafe)
    }
    if (!isMatch || search !== current) return
    if (!tail.begin()) return refuse('boundary')
    onFound(true)
    if (parser._hparser) refuse('part header')
  }
  Object.defineProperty(parser, '_bparser', {
    get: () => current,
    set(next: BoundaryParser['_bparser']) {
      if (current) current._cb = () => {}
      current = next
    },
  })
}

const [tab, lineFeed, carriageReturn, space, hyphen] = [0x09, 0x0a, 0x0d, 0x20, 0x2d]

/** The bytes that may come next; `undefined` if any byte may. */
type Next = readonly number[] | undefined

const atBoundary: Next = [hyphen, space, tab, carriageReturn]
const inPadding: Next = [space, tab, carriageReturn]

/** Reads the bytes between a boundary and the headers of its part. */
interface BoundaryTail {
  /** Call this when another boundary is found. Returns `false` if the one before is not complete. */
  readonly begin: () => boolean
  /**
   * Reads `data` from `start` to `end`. Returns the position from which busboy is to get the bytes; `undefined` if these bytes
   * cannot follow a boundary.
   */
  readonly read: (data: Buffer, start: number, end: number) => number | undefined
}

/**
 * RFC 2046 §5.1.1 allows after a boundary: two hyphens, or a line break, and before that spaces and tabs, which some gateways add
 * ("transport padding"). Busboy does not know padding: it skips a part after padding, or after any other bytes.
 */
function createBoundaryTail(): BoundaryTail {
  let next: Next
  const accept = (byte: number) => {
    if (!next?.includes(byte)) return false
    if (byte === carriageReturn) next = [lineFeed]
    else if (byte === space || byte === tab) next = inPadding
    else if (byte === hyphen && next === atBoundary) next = [hyphen]
    else next = undefined
    return true
  }
  return {
    begin() {
      const isComplete = next === undefined
      next = atBoundary
      return isComplete
    },
    read(data, start, end) {
      let from = start
      for (let at = start; next !== undefined && at < end; at++) {
        const byte = data[at] ?? 0
        if (!accept(byte)) return undefined
        if (byte === space || byte === tab) from = at + 1
      }
      return from
    },
  }
}

/** The members of busboy's search for boundaries that are used here. */
interface BoundarySearch {
  /** Searches all of `data` from `start` on, and returns its length. */
  push: (data: Buffer, start: number) => number
  readonly _cb: (
    isMatch: boolean,
    data: Buffer,
    start: number,
    end: number,
    isSafe: boolean,
  ) => void
  /** How many of the last bytes of earlier data may be the begin of a boundary. */
  readonly _lookbehindSize: number
  /** The boundary with its line break and hyphens. */
  readonly _needle: Buffer
}

const anyBoundary = Buffer.from('\r\n--')
const lineBreak = 0x0d

/**
 * Gives busboy data in which no boundary begins without its own search. That search, in JavaScript, takes a fifth to a half of
 * the processor time of a large form, depending on how many letters of the boundary are in the content; Node's takes a tenth of
 * that.
 */
export function skipContentNatively(parser: Writable & { _bparser?: unknown }): void {
  const search = parser._bparser as BoundarySearch
  const push = search.push.bind(search)
  search.push = (data, start) => {
    if (search._lookbehindSize > 0 || mayHoldBoundary(data, search._needle.length)) {
      return push(data, start)
    }
    search._cb(false, data, start, data.length, true)
    return data.length
  }
}

/** Whether a boundary of `length` bytes may be in `data`, or may begin at its end. */
function mayHoldBoundary(data: Buffer, length: number): boolean {
  return (
    data.includes(lineBreak, Math.max(0, data.length - length + 1)) || data.includes(anyBoundary)
  )
}
