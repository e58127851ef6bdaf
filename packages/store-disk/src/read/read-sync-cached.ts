import { closeSync, fstatSync, lstatSync, openSync, readSync, type BigIntStats } from 'node:fs'
import { resolveRange, type OpenBlob, type OpenOptions } from '@holdfast/core'
import { LRUCache } from 'lru-cache'
import { blobInfo, readFlags } from '../files/blob-file.ts'

/** The largest file, in bytes, that is read at once: what the system copies in the time of some system calls. */
export const readSyncLimit = 64 * 1024

export interface ReadSyncCachedOptions {
  /** How many bytes of files are kept at most; 0 for none. Default: 32 MiB. */
  readonly cacheBytes?: number
  /**
   * How old a file's last change has to be for its bytes to be kept, in milliseconds: the clock of a file system moves in
   * steps, and within one a second change would not show. Default: 2 s.
   */
  readonly settlesAfterMs?: number
}

/**
 * The blob called `name` whose file is at `path`, with all the bytes that are asked for. `undefined` where the file is
 * none that can be read at once; throws where it cannot be read at all. Blocks until it is read.
 */
export type ReadSyncCached = (
  path: string,
  name: string,
  options: OpenOptions,
) => OpenBlob | undefined

interface Kept {
  readonly stats: BigIntStats
  readonly info: OpenBlob['info']
  readonly bytes: Buffer
}

/** What a kept file takes beside its bytes, in bytes. */
const overhead = 1024

/**
 * Reads small files, and keeps the bytes of those that are asked for again. The file is looked at each time all the
 * same: whoever has replaced, changed or removed it since, and by whatever way, what is kept is not used any more.
 */
export function createReadSyncCached(options: ReadSyncCachedOptions = {}): ReadSyncCached {
  const { cacheBytes = 32 * 1024 * 1024, settlesAfterMs = 2_000 } = options
  const kept = new LRUCache<string, Kept>({
    // Of 0 it would make no limit at all.
    maxSize: Math.max(1, cacheBytes),
    sizeCalculation: ({ bytes }) => bytes.length + overhead,
  })

  return (path, name, { range: request }) => {
    const known = kept.get(path)
    if (known && isUnchanged(known.stats, lstatSync(path, { bigint: true }))) {
      return partOf(known, request)
    }
    const read = readWhole(path, name)
    if (read === undefined) return undefined
    // The change itself is what counts, which nobody can put back as they can the time of modification.
    if (Date.now() - Number(read.stats.ctimeMs) > settlesAfterMs) kept.set(path, read)
    else kept.delete(path)
    return partOf(read, request)
  }
}

function isUnchanged(before: BigIntStats, now: BigIntStats): boolean {
  return (
    before.ctimeNs === now.ctimeNs &&
    before.ino === now.ino &&
    before.mtimeNs === now.mtimeNs &&
    before.size === now.size &&
    before.dev === now.dev
  )
}

function readWhole(path: string, name: string): Kept | undefined {
  const fd = openSync(path, readFlags)
  try {
    const stats = fstatSync(fd, { bigint: true })
    if (!stats.isFile() || stats.size > readSyncLimit) return undefined
    const bytes = Buffer.allocUnsafeSlow(Number(stats.size))
    // Shortened meanwhile, by somebody else: the ordinary way says what is wrong.
    if (readSync(fd, bytes, 0, bytes.length, 0) !== bytes.length) return undefined
    return { stats, info: blobInfo(name, stats), bytes }
  } finally {
    closeSync(fd)
  }
}

function partOf({ info, bytes }: Kept, request: OpenOptions['range']): OpenBlob {
  const range = resolveRange(request, info.size)
  const { offset, length } = range ?? { offset: 0, length: 0 }
  const part = length === bytes.length ? bytes : bytes.subarray(offset, offset + length)
  return { info, range, ...inMemory(part) }
}

/** These bytes as an open blob has them. */
export function inMemory(bytes: Uint8Array): Pick<OpenBlob, 'bytes' | 'content' | 'close'> {
  return { bytes, content: once(bytes), close: nothingToClose }
}

async function nothingToClose(): Promise<void> {}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  if (bytes.length > 0) yield bytes
}
