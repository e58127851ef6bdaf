const [tab, lineFeed, carriageReturn, space, hyphen] = [0x09, 0x0a, 0x0d, 0x20, 0x2d]

/** The bytes that may come next; `undefined` where anything may. */
type Next = readonly number[] | undefined

const atBoundary: Next = [hyphen, space, tab, carriageReturn]
const inPadding: Next = [space, tab, carriageReturn]

/** What stands between a boundary and the headers of its part. */
export interface BehindBoundary {
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
export function createBehindBoundary(): BehindBoundary {
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
