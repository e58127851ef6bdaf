/** Which files are likely in the page cache of the operating system: those that were read lately. */
export interface PageCacheHints {
  isLikelyCached(path: string): boolean
  /** Records that the file at `path` has been read. */
  note(path: string): void
}

/** Seconds after its last read for which a file is likely in the page cache. */
const staysFor = 300

/** A power of two. Each slot takes eight bytes and keeps the last file of its hash. */
const slots = 2 ** 18

/** Keeps hints in constant memory. */
export function createPageCacheHints(now: () => number = () => performance.now()): PageCacheHints {
  const tags = new Uint32Array(slots)
  const notedAt = new Float32Array(slots).fill(-Infinity)

  return {
    isLikelyCached(path) {
      const tag = hashOf(path)
      const slot = tag % slots
      return tags[slot] === tag && now() / 1000 - (notedAt[slot] ?? 0) < staysFor
    },
    note(path) {
      const tag = hashOf(path)
      tags[tag % slots] = tag
      notedAt[tag % slots] = now() / 1000
    },
  }
}

/** FNV-1a over the units of UTF-16. A collision only has a file taken for one that is cached. */
function hashOf(path: string): number {
  let hash = 0x811c9dc5
  for (let index = 0; index < path.length; index++) {
    hash = Math.imul(hash ^ path.charCodeAt(index), 0x01000193)
  }
  return hash >>> 0
}
