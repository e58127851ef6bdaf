import { createHash } from 'node:crypto'
import type { BlobInfo, BlobKey } from '@holdfast/core'

/** Files of which it is known that the target has their content. */
export interface SettledFiles {
  /** `source` is what the source tells of the content that the target has. */
  add(key: BlobKey, source: BlobInfo): void
  /** Whether it was added; `false` if the file has been replaced since, or too many were added before it. */
  has(key: BlobKey, source: BlobInfo): boolean
}

/** More are forgotten rather than that memory grows, and compared again. These take about 10 MiB. */
const maxRemembered = 100_000

/** Remembers files for the passes that follow. A blob keeps its entity tag for life, and no other content gets it. */
export function createSettledFiles(): SettledFiles {
  const remembered = new Set<string>()
  return {
    add(key, source) {
      if (remembered.size < maxRemembered) remembered.add(fingerprint(key, source))
    },
    has: (key, source) => remembered.has(fingerprint(key, source)),
  }
}

function fingerprint({ customer, name }: BlobKey, { etag }: BlobInfo): string {
  const identity = JSON.stringify([customer, name, etag])
  return createHash('sha256').update(identity).digest('base64')
}
