import { closeSync, fstatSync, lstatSync, openSync, readSync, type BigIntStats } from 'node:fs'
import { resolveRange, type OpenBlob, type OpenOptions } from '@holdfast/core'
import { LRUCache } from 'lru-cache'
import { blobInfo, readFlags } from '../files/blob-file.ts'

/** The largest file, in bytes, that is read synchronously: the system copies it in the time of some system calls. */
export const readSyncLimit = 64 * 1024

export interface ReadSyncCachedOptions {
  /** The most bytes of files in the cache; 0 for none. Default: 32 MiB. */
  readonly cacheBytes?: number
  /**
   * The age of a file's last change from which its bytes are cached, in milliseconds. The clock of a file system has
   * ticks, and two changes within one tick have the same time. Default: 2 s.
   */
  readonly settlesAfterMs?: number
}

/**
 * Returns the blob `name` whose file is at `path`, with all requested bytes, and blocks until they are read. Returns
 * `undefined` if the file is not a small regular one; throws if it cannot be read.
 */
export type ReadSyncCached = (
  path: string,
  name: string,
  options: OpenOptions,
) => OpenBlob | undefined

interface CachedFile {
  readonly stats: BigIntStats
  readonly info: OpenBlob['info']
  readonly bytes: Buffer
}

/** Bytes of memory that a cached file takes beside its content. */
const overhead = 1024

/**
 * Makes a reader of small files with a cache of their bytes. It compares the stats of the file with the cached ones at
 * each read, so that it never returns the bytes of a file that was replaced, changed or removed, by whatever program.
 */
export function createReadSyncCached(options: ReadSyncCachedOptions = {}): ReadSyncCached {
  const { cacheBytes = 32 * 1024 * 1024, settlesAfterMs = 2_000 } = options
  const cache = new LRUCache<string, CachedFile>({
    // A size of 0 would mean no limit.
    maxSize: Math.max(1, cacheBytes),
    sizeCalculation: ({ bytes }) => bytes.length + overhead,
  })

  return (path, name, { range: request }) => {
    const known = cache.get(path)
    if (known && isUnchanged(known.stats, lstatSync(path, { bigint: true }))) {
      return partOf(known, request)
    }
    const read = readWhole(path, name)
    if (read === undefined) return undefined
    // The time of last change (ctime): no program can set it back, unlike the modification time.
    if (Date.now() - Number(read.stats.ctimeMs) > settlesAfterMs) cache.set(path, read)
    else cache.delete(path)
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

function readWhole(path: string, name: string): CachedFile | undefined {
  const fd = openSync(path, readFlags)
  try {
    const stats = fstatSync(fd, { bigint: true })
    if (!stats.isFile() || stats.size > readSyncLimit) return undefined
    const bytes = Buffer.allocUnsafeSlow(Number(stats.size))
    // Another program has shortened the file meanwhile: the asynchronous read reports the error.
    if (readSync(fd, bytes, 0, bytes.length, 0) !== bytes.length) return undefined
    return { stats, info: blobInfo(name, stats), bytes }
  } finally {
    closeSync(fd)
  }
}

function partOf({ info, bytes }: CachedFile, request: OpenOptions['range']): OpenBlob {
  const range = resolveRange(request, info.size)
  const { offset, length } = range ?? { offset: 0, length: 0 }
  const part = length === bytes.length ? bytes : bytes.subarray(offset, offset + length)
  return { info, range, ...inMemory(part) }
}

/** The content of an open blob whose bytes are in memory. */
export function inMemory(bytes: Uint8Array): Pick<OpenBlob, 'bytes' | 'content' | 'close'> {
  return { bytes, content: once(bytes), close: nothingToClose }
}

async function nothingToClose(): Promise<void> {}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  if (bytes.length > 0) yield bytes
}
