import type { BigIntStats } from 'node:fs'
import type { BlobInfo } from '@holdfast/core'
import { LRUCache } from 'lru-cache'

/** What was read from a file or a directory. */
export interface CachedRead<Names = unknown> {
  /** Of the file or directory, from before the reading. */
  readonly stats: BigIntStats
  /** Bytes that this takes beside the stats. */
  readonly memory: number
  readonly blob?: { readonly info: BlobInfo; readonly bytes: Buffer }
  readonly names?: Names
}

export interface UnchangedCacheOptions {
  /** The most bytes of memory; 0 for none. Default: 32 MiB. */
  readonly cacheBytes?: number
  /**
   * The age of the last change from which a reading is kept, in milliseconds. The clock of a file system has ticks, and
   * two changes within one tick have the same time. Default: 2 s.
   */
  readonly settlesAfterMs?: number
}

/** Keeps what was read, by path; what was used least recently gives way. */
export interface UnchangedCache<Names = unknown> {
  /** The most bytes of memory. */
  readonly bytes: number
  /** What is kept, changed or not: compare its stats with those of now by {@link isUnchanged}. */
  get(path: string): CachedRead<Names> | undefined
  /** Whether what has these `stats` now, and is read after that, may be kept. */
  isSettled(stats: BigIntStats): boolean
  /** Keeps `read`, in place of what was kept for `path`, unless it had changed a moment ago. */
  keep(path: string, read: CachedRead<Names>): void
}

/** Bytes of memory that each entry takes beside its content. */
const overhead = 1024

export function createUnchangedCache<Names>(
  options: UnchangedCacheOptions = {},
): UnchangedCache<Names> {
  const { cacheBytes = 32 * 1024 * 1024, settlesAfterMs = 2_000 } = options
  const cache = new LRUCache<string, CachedRead<Names>>({
    // A size of 0 would mean no limit.
    maxSize: Math.max(1, cacheBytes),
    sizeCalculation: ({ memory }) => memory + overhead,
  })
  // The time of last change (ctime): no program can set it back, unlike the modification time.
  const isSettled = ({ ctimeMs }: BigIntStats) => Date.now() - Number(ctimeMs) > settlesAfterMs
  return {
    bytes: cacheBytes,
    get: (path) => cache.get(path),
    isSettled,
    keep(path, read) {
      if (isSettled(read.stats)) cache.set(path, read)
      else cache.delete(path)
    },
  }
}

/** For file systems that may show stats late: keeps nothing. */
export const noUnchangedCache: UnchangedCache<never> = {
  bytes: 0,
  get: () => undefined,
  isSettled: () => false,
  keep: () => {},
}

/** Whether stats that were settled once are those of the same file or directory, without any change since. */
export function isUnchanged(before: BigIntStats, now: BigIntStats): boolean {
  return (
    before.ctimeNs === now.ctimeNs &&
    before.ino === now.ino &&
    before.mtimeNs === now.mtimeNs &&
    before.size === now.size &&
    before.dev === now.dev
  )
}
