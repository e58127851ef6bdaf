import type { BlobInfo, BlobKey, IncrementalHash } from '@holdfast/core'

/** Files whose content the target is known to have. */
export interface SettledFiles {
  /** `source` is the source's description of the content that the target has. */
  add(key: BlobKey, source: BlobInfo): void
  /** Whether it was added; `false` if the file has been replaced since, or too many were added before it. */
  has(key: BlobKey, source: BlobInfo): boolean
}

/** More are forgotten rather than that memory grows, and compared again. These take about 12 MiB. */
const maxRemembered = 100_000

/** Remembers files for the passes that follow. A blob keeps its entity tag for life, and no other content gets it. */
export function createSettledFiles(createHash: () => IncrementalHash): SettledFiles {
  const remembered = new Set<string>()
  const encoder = new TextEncoder()

  const fingerprint = ({ customer, name }: BlobKey, { etag }: BlobInfo) => {
    const hash = createHash()
    hash.update(encoder.encode(JSON.stringify([customer, name, etag])))
    return hash.digest('hex')
  }

  return {
    add(key, source) {
      if (remembered.size < maxRemembered) remembered.add(fingerprint(key, source))
    },
    has: (key, source) => remembered.has(fingerprint(key, source)),
  }
}
