import { createHash } from 'node:crypto'
import type { BlobInfo, BlobKey } from '@holdfast/core'

/** An original and its copy. */
export interface Pair {
  readonly source: BlobInfo
  readonly target: BlobInfo
}

/** Pairs of which it is known that their contents are the same. */
export interface SettledPairs {
  add(key: BlobKey, pair: Pair): void
  /** Whether the pair was added; `false` if one of the two has been replaced since, or too much was added before it. */
  has(key: BlobKey, pair: Pair): boolean
}

/** More are forgotten rather than that memory grows, and compared again. These take about 10 MiB. */
const maxRemembered = 100_000

/** Remembers pairs for the passes that follow. A blob keeps its entity tag for life and no other content gets it. */
export function createSettledPairs(): SettledPairs {
  const remembered = new Set<string>()
  return {
    add(key, pair) {
      if (remembered.size < maxRemembered) remembered.add(fingerprint(key, pair))
    },
    has: (key, pair) => remembered.has(fingerprint(key, pair)),
  }
}

function fingerprint({ customer, name }: BlobKey, { source, target }: Pair): string {
  const identity = JSON.stringify([customer, name, source.etag, target.etag])
  return createHash('sha256').update(identity).digest('base64')
}
