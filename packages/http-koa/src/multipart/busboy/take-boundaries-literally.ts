import type { Writable } from 'node:stream'
import { createBehindBoundary } from './behind-boundary.ts'

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
