import type { Writable } from 'node:stream'

/** What is used of the search for boundaries in busboy's parser: it tells what it has found, a piece at a time. */
interface BoundarySearch {
  _cb?: () => void
}

/**
 * Makes busboy pass over everything behind the closing boundary (RFC 2046 §5.1.1: an epilogue is to be ignored). It does
 * so by itself from the next chunk on, but reads the rest of this one as if the form went on: files in it would be
 * stored, or else, where one has no end, the parser waits for that end for ever.
 *
 * Busboy 1.6 replaces its search at the closing boundary, while the old one is still running through the chunk; so that
 * is what has to be silenced.
 */
export function endAtClosingBoundary(parser: Writable & { _bparser?: BoundarySearch }): void {
  let current = parser._bparser
  Object.defineProperty(parser, '_bparser', {
    get: () => current,
    set(next: BoundarySearch) {
      if (current) current._cb = () => {}
      current = next
    },
  })
}
