import type { BlobInfo, BlobKey, BlobStore, IncrementalHash } from '@holdfast/core'
import { copyFile } from './copy-file.ts'
import { readDigest } from './read-digest.ts'
import type { FoundFile } from './walk-files.ts'

/** What became of a file. */
export interface Outcome {
  /**
   * - `copied`: it was missing in the target, or another.
   * - `present`: the target has it.
   * - `extra`: it is only in the target, and stays there.
   * - `removed`: it was only in the target.
   * - `passing`: it went or came meanwhile, and nothing was done.
   */
  readonly kind: 'copied' | 'present' | 'extra' | 'removed' | 'passing'
  /** The file's size. */
  readonly bytes: number
}

export interface MoverOptions {
  readonly from: BlobStore
  readonly to: BlobStore
  readonly verify?: boolean | undefined
  readonly removeExtra?: boolean | undefined
  readonly signal: AbortSignal
  readonly createHash: () => IncrementalHash
}

export interface Handling {
  /** Whether this is the first look at the file in this run. */
  readonly isFirst: boolean
  /** Called with bytes read from the source and with bytes read from the target; a copied file counts twice. */
  readonly onBytes: (bytes: number) => void
}

/** Copies, compares or removes one file after the other. */
export interface FileMover {
  handle(file: FoundFile, handling: Handling): Promise<Outcome>
}

/** An entity tag that S3 makes of nothing but the content: two objects with the same one have the same. Any other is a store's own. */
const digestOfContent = /^[0-9a-f]{32}(-\d+)?$/

export function createFileMover(options: MoverOptions): FileMover {
  const { from, to, signal, createHash, verify = false, removeExtra = false } = options
  const settled = createSettledFiles(createHash)

  const isSameContent = async (key: BlobKey, { onBytes }: Handling): Promise<boolean> => {
    // One after the other: an opened blob that has to wait for the other one to be read may be cut off.
    const reading = { signal, onBytes, createHash }
    const source = await readDigest(from, key, reading)
    const target = source && (await readDigest(to, key, reading))
    if (!target || target.digest !== source.digest) return false
    settled.add(key, source.info)
    return true
  }

  const isPresent = async (key: BlobKey, source: BlobInfo, handling: Handling) => {
    if (settled.has(key, source)) return true
    const target = await to.stat(key)
    if (source.size !== target?.size) return false
    // Times prove nothing: a clock that was set back makes a file that has replaced another look older than its copy.
    const isSure = source.etag === target.etag && digestOfContent.test(source.etag)
    if (isSure && !(verify && handling.isFirst)) return true
    return isSameContent(key, handling)
  }

  const copy = async (key: BlobKey, { onBytes }: Handling): Promise<Outcome> => {
    const source = await copyFile({ from, to, key, signal, onBytes, createHash })
    if (!source) return { kind: 'passing', bytes: 0 }
    settled.add(key, source)
    return { kind: 'copied', bytes: source.size }
  }

  const handleExtra = async (key: BlobKey): Promise<Outcome> => {
    if (!removeExtra) return { kind: 'extra', bytes: 0 }
    // It may have come since the source was listed.
    if (await from.stat(key)) return { kind: 'passing', bytes: 0 }
    return { kind: (await to.delete(key)) ? 'removed' : 'passing', bytes: 0 }
  }

  return {
    async handle({ key, inSource, inTarget }, handling) {
      if (!inSource) return handleExtra(key)
      if (!inTarget) return copy(key, handling)
      const source = await from.stat(key)
      if (!source) return { kind: 'passing', bytes: 0 }
      const isThere = await isPresent(key, source, handling)
      return isThere ? { kind: 'present', bytes: source.size } : copy(key, handling)
    },
  }
}

/** Files whose content the target is known to have. */
interface SettledFiles {
  /** `source` is the source's description of the content that the target has. */
  add(key: BlobKey, source: BlobInfo): void
  /** Whether it was added; `false` if the file has been replaced since, or too many were added before it. */
  has(key: BlobKey, source: BlobInfo): boolean
}

/** More are forgotten rather than that memory grows, and compared again. These take about 12 MiB. */
const maxRemembered = 100_000

/** Remembers files for the passes that follow. A blob keeps its entity tag for life, and no other content gets it. */
function createSettledFiles(createHash: () => IncrementalHash): SettledFiles {
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
