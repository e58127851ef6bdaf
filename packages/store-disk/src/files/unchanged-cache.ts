import type { BigIntStats } from 'node:fs'
import type { BlobInfo } from '@holdfast/core'
import { LRUCache } from 'lru-cache'

/** What was read from a file or a directory. */
export interface CachedRead<Names = unknown> {
  /** Of the file or directory, from before it was read. */
  readonly stats: BigIntStats
  /** Bytes of memory that this takes, without the stats. */
  readonly memory: number
  readonly blob?: { readonly info: BlobInfo; readonly bytes: Buffer }
  readonly names?: Names
}

export interface UnchangedCacheOptions {
  /** The most bytes of memory; 0 for none. Default: 32 MiB. */
  readonly cacheBytes?: number
  /**
   * Keeps a reading only if the last change is older than this, in milliseconds. The clock of a file system has ticks, and two changes
   * within one tick have the same time. Default: 2 s.
   */
  readonly settlesAfterMs?: number
}

/** Keeps what was read, by path; drops the least recently used first. */
export interface UnchangedCache<Names = unknown> {
  /** The most bytes of memory. */
  readonly bytes: number
  /** What is kept, which may be out of date: compare its stats with the current ones by {@link isUnchanged}. */
  get(path: string): CachedRead<Names> | undefined
  /** Whether something that has these `stats` now may be kept if it is read after them. */
  isSettled(stats: BigIntStats): boolean
  /** Keeps `read` for `path`, in place of what was kept, unless the file had changed just before. */
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
  // The time of last change (ctime): unlike the modification time, no program can set it back.
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

/** For file systems that may report old stats: keeps nothing. */
export const noUnchangedCache: UnchangedCache<never> = {
  bytes: 0,
  get: () => undefined,
  isSettled: () => false,
  keep: () => {},
}

/** Whether a file or directory has not changed between the stats `before`, which were settled, and `now`. */
export function isUnchanged(before: BigIntStats, now: BigIntStats): boolean {
  return (
    before.ctimeNs === now.ctimeNs &&
    before.ino === now.ino &&
    before.mtimeNs === now.mtimeNs &&
    before.size === now.size &&
    before.dev === now.dev
  )
}
