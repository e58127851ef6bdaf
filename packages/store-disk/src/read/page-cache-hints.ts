import { createLatencyBreaker } from '../files/latency-breaker.ts'

/** Which files are likely in the page cache of the operating system: those that were read lately. */
export interface PageCacheHints {
  /**
   * Returns the result of `read` if the file at `path` is likely in the page cache. Returns `undefined` otherwise, and if
   * `read` fails: the asynchronous read then reports the error.
   */
  readSync<T>(path: string, read: () => T): T | undefined
  /** Records that the file at `path` has been read asynchronously. */
  note(path: string): void
}

/** Seconds after its last read for which a file is likely in the page cache. */
const staysFor = 300

/** A power of two. Each slot takes eight bytes and keeps the last file of its hash. */
const slots = 2 ** 18

/**
 * Keeps hints in constant memory. To wake a thread of the pool takes twenty times as long as to read a file of some KiB
 * from the page cache. So the main thread reads such a file itself, unless reads were slow lately: it must not wait for
 * a disk.
 */
export function createPageCacheHints(now: () => number = () => performance.now()): PageCacheHints {
  const tags = new Uint32Array(slots)
  const notedAt = new Float32Array(slots).fill(-Infinity)
  const breaker = createLatencyBreaker(now)

  const isLikelyCached = (path: string, time: number) => {
    const tag = hashOf(path)
    const slot = tag % slots
    return tags[slot] === tag && time / 1000 - (notedAt[slot] ?? 0) < staysFor
  }

  return {
    readSync(path, read) {
      if (breaker.isTripped() || !isLikelyCached(path, now())) return undefined
      return attempt(() => breaker.time(read))
    },
    note(path) {
      const tag = hashOf(path)
      tags[tag % slots] = tag
      notedAt[tag % slots] = now() / 1000
    },
  }
}

/** For file systems where a read may block: no file is likely in the page cache. */
export const noPageCacheHints: PageCacheHints = { readSync: () => undefined, note: () => {} }

function attempt<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}

/** FNV-1a over the units of UTF-16. A collision only has a file read synchronously that is not cached. */
function hashOf(path: string): number {
  let hash = 0x811c9dc5
  for (let index = 0; index < path.length; index++) {
    hash = Math.imul(hash ^ path.charCodeAt(index), 0x01000193)
  }
  return hash >>> 0
}
