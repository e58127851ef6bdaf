import { createLatencyBreaker } from '../files/latency-breaker.ts'

/** Files that the operating system has in memory, as far as one can tell: those that were read lately. */
export interface PageCacheHints {
  /**
   * What `read` makes of the file at `path`, at once, if it is likely to be in memory; `undefined` where it is not, or
   * where `read` fails: whoever reads in the ordinary way finds out why.
   */
  readSync<T>(path: string, read: () => T): T | undefined
  /** Notes that the file at `path` has been read in the ordinary way. */
  note(path: string): void
}

/** How long a file is taken to stay in memory, in seconds. */
const staysFor = 300

/** A power of two. Each takes eight bytes; files of one slot push each other out. */
const slots = 2 ** 18

/**
 * Keeps track of warm files in constant memory. A thread of the pool takes twenty times as long to be woken up as a file
 * of some KiB takes to be read from the page cache, so that such a file had better be read by the main thread, which
 * may wait for nothing, though: that is what this decides.
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

/** For where reading at once would block, or where nobody knows. */
export const noPageCacheHints: PageCacheHints = { readSync: () => undefined, note: () => {} }

function attempt<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}

/** FNV-1a over the units of UTF-16: a file taken for another one is read at once, and no harm done. */
function hashOf(path: string): number {
  let hash = 0x811c9dc5
  for (let index = 0; index < path.length; index++) {
    hash = Math.imul(hash ^ path.charCodeAt(index), 0x01000193)
  }
  return hash >>> 0
}
