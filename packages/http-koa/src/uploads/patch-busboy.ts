import type { Readable, Writable } from 'node:stream'
import { problems } from '../http/problems.ts'
import { formLimits, readFormDisposition, type FormDisposition } from './form-syntax.ts'

/** A part of a form whose content arrives. */
export interface FormPart {
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
  readonly onPart: (part: FormPart) => void
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
  { disposition, stream }: FormPart,
  fail: (error: Error) => void,
): void {
  if (disposition?.filename !== '') return
  stream.once('data', () => fail(problems.invalidFilename('it is empty')))
}

/** Values by name, the name in lower case; a character for each byte. */
export type PartHeaders = Record<string, string[]>

/** Headers in place of those that have arrived; `undefined` breaks the form. */
type ChangeHeaders = (headers: PartHeaders) => PartHeaders | undefined

/** What is used of busboy's parser for the headers of a part. */
interface HeaderParser {
  /** Takes `data` from `start` on, up to the end of the headers or `end`. */
  push: (data: Buffer, start: number, end: number) => number
  cb: (headers: PartHeaders) => void
}

/**
 * Gives busboy for each part what `change` makes of its headers. In the disposition, a control character stands as a byte
 * that is never UTF-8, so that it is refused as part of a name; busboy takes the whole form for broken.
 *
 * Refuses parts with more header lines than `formLimits` says, too: from some number on busboy drops lines, and a part
 * without its `Content-Disposition` would be read past.
 *
 * Busboy 1.6 has no options for this, so the headers are changed on their way into its header parser and out of it; its
 * last version is of 2022, and the tests would notice another one.
 */
export function changePartHeaders(parser: Writable, change: ChangeHeaders): void {
  const refuse = () => parser.destroy(new Error('Malformed part header'))
  let current: HeaderParser | null = null
  // Busboy has one for all parts of a form.
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

/** Never part of UTF-8. */
const mark = 0xff

/** A control character elsewhere than in a name breaks the form, as it always did. */
function hasMark(value: string): boolean {
  return value.includes(String.fromCharCode(mark))
}

/** Busboy takes no more than this for the headers of a part, in bytes. */
const maxHeaderSize = 16 * 1024

/** A copy of `data`, if there are control characters in its headers, with marks in their places. */
function markControls(data: Buffer, start: number, end: number): Buffer {
  const blankLine = data.indexOf('\r\n\r\n', start)
  const stop = Math.min(end, blankLine < 0 ? end : blankLine, start + maxHeaderSize)
  let marked: Buffer | undefined
  for (let i = start; i < stop; i++) {
    if (!isControl(data[i] ?? 0)) continue
    // The content behind the headers may begin in the same data, and is read from the original.
    marked ??= Buffer.from(data)
    marked[i] = mark
  }
  return marked ?? data
}

/** C0 but for tab and the line breaks, which have a meaning in headers, and DEL. */
function isControl(byte: number): boolean {
  return (byte < 0x20 && byte !== 0x09 && byte !== 0x0a && byte !== 0x0d) || byte === 0x7f
}

/** Gets what is found, a piece at a time: `isMatch` where a boundary follows it. */
type OnFound = (
  isMatch: boolean,
  data?: Buffer,
  start?: number,
  end?: number,
  isSafe?: boolean,
) => void

/** What is used of busboy's parser: its search for boundaries, and its parser of headers while it is within them. */
interface BoundaryParser extends Writable {
  _bparser?: { _cb?: OnFound }
  readonly _hparser?: unknown
}

/**
 * Makes busboy take every boundary for one:
 *
 * - Everything behind the closing one is passed over (RFC 2046 §5.1.1). Busboy does so from the next chunk on, but reads
 *   the rest of this one as if the form went on: files in it would be stored, or else, where one has no end, the parser
 *   waits for that end for ever.
 * - Spaces and tabs behind one do not count. What else follows it, and is no line break, breaks the form. In both cases busboy
 *   takes the part for none, and no digest in it would be looked at.
 * - One in the headers of a part breaks the form. Busboy reads on, and takes the next part, headers and all, for the
 *   content of this one.
 *
 * Busboy 1.6 replaces its search at the closing boundary, while the old one is still running through the chunk; so that
 * is what has to be silenced.
 */
export function takeBoundariesLiterally(parser: BoundaryParser): void {
  let current = parser._bparser
  const onFound = current?._cb
  if (current === undefined || onFound === undefined) throw new TypeError('Not as busboy 1.6 is')
  const search = current
  const behind = createBehindBoundary()
  const refuse = (what: string) => parser.destroy(new Error(`Malformed ${what}`))
  current._cb = (isMatch, data, start = 0, end = 0, isSafe) => {
    if (data) {
      const from = behind.read(data, start, end)
      if (from === undefined) return refuse('boundary')
      if (from < end) onFound(false, data, from, end, isSafe)
    }
    if (!isMatch || search !== current) return
    if (!behind.begin()) return refuse('boundary')
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

/** The bytes that may come next; `undefined` where anything may. */
type Next = readonly number[] | undefined

const atBoundary: Next = [hyphen, space, tab, carriageReturn]
const inPadding: Next = [space, tab, carriageReturn]

/** What stands between a boundary and the headers of its part. */
interface BehindBoundary {
  /** Another boundary is found: `false` where the one before is not complete. */
  readonly begin: () => boolean
  /**
   * Where the bytes of `data` from `start` to `end` begin that busboy is to get; `undefined` where they cannot follow a
   * boundary.
   */
  readonly read: (data: Buffer, start: number, end: number) => number | undefined
}

/**
 * Reads what RFC 2046 §5.1.1 allows behind a boundary: two hyphens, or a line break, before which spaces and tabs may stand
 * that some gateways add ("transport padding"). Busboy knows no padding: it reads past a part whose boundary has some, and so
 * it does where anything else follows.
 */
function createBehindBoundary(): BehindBoundary {
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

/** What is used of busboy's parser: its search for boundaries. */
interface BoundarySearch {
  /** Searches all of `data`; returns where it has come to, which is the end. */
  push: (data: Buffer, start: number) => number
  readonly _cb: (
    isMatch: boolean,
    data: Buffer,
    start: number,
    end: number,
    isSafe: boolean,
  ) => void
  /** How many bytes of the data before may begin a boundary. */
  readonly _lookbehindSize: number
  /** The boundary with its line break and hyphens. */
  readonly _needle: Buffer
}

const anyBoundary = Buffer.from('\r\n--')
const lineBreak = 0x0d

/**
 * Hands data in which no boundary begins to busboy at once. Its own search, in JavaScript, takes a fifth to a half of the processor
 * time of a large form, depending on how many letters of the boundary are in the content; Node's takes a tenth of that.
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

/** Whether a boundary of `length` bytes may be in `data`, or begin at its end. */
function mayHoldBoundary(data: Buffer, length: number): boolean {
  return (
    data.includes(lineBreak, Math.max(0, data.length - length + 1)) || data.includes(anyBoundary)
  )
}
