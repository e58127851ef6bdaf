import type { Writable } from 'node:stream'
import { formLimits } from '../syntax/form-limits.ts'

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
