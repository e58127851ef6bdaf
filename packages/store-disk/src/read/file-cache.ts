import type { BigIntStats } from 'node:fs'
import type { BlobInfo } from '@holdfast/core'
import { LRUCache } from 'lru-cache'

export interface FileCacheOptions {
  /** The most bytes of files in the cache; 0 for none. Default: 32 MiB. */
  readonly cacheBytes?: number
  /**
   * The age of a file's last change from which its bytes are cached, in milliseconds. The clock of a file system has
   * ticks, and two changes within one tick have the same time. Default: 2 s.
   */
  readonly settlesAfterMs?: number
}

/** A whole file in memory. */
export interface CachedFile {
  /** As it was when the bytes were read. */
  readonly stats: BigIntStats
  readonly info: BlobInfo
  readonly bytes: Buffer
}

/** Small files by their paths. Whoever takes one compares its stats with those of the file, by {@link isUnchanged}. */
export interface FileCache {
  get(path: string): CachedFile | undefined
  /** Keeps `file`, in place of what was kept for `path`, unless it has changed a moment ago. */
  keep(path: string, file: CachedFile): void
}

/** Bytes of memory that a cached file takes beside its content. */
const overhead = 1024

export function createFileCache(options: FileCacheOptions = {}): FileCache {
  const { cacheBytes = 32 * 1024 * 1024, settlesAfterMs = 2_000 } = options
  const cache = new LRUCache<string, CachedFile>({
    // A size of 0 would mean no limit.
    maxSize: Math.max(1, cacheBytes),
    sizeCalculation: ({ bytes }) => bytes.length + overhead,
  })

  return {
    get: (path) => cache.get(path),
    keep(path, file) {
      // The time of last change (ctime): no program can set it back, unlike the modification time.
      if (Date.now() - Number(file.stats.ctimeMs) > settlesAfterMs) cache.set(path, file)
      else cache.delete(path)
    },
  }
}

/** For file systems that may show the stats of a file late: keeps nothing. */
export const noFileCache: FileCache = { get: () => undefined, keep: () => {} }

/** Whether a file has been neither replaced nor changed, by whatever program. */
export function isUnchanged(before: BigIntStats, now: BigIntStats): boolean {
  return (
    before.ctimeNs === now.ctimeNs &&
    before.ino === now.ino &&
    before.mtimeNs === now.mtimeNs &&
    before.size === now.size &&
    before.dev === now.dev
  )
}
