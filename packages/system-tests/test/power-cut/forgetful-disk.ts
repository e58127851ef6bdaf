/** Bytes of a block: what this disk writes whole or not at all, as drives with sectors of 4 KiB do. */
export const blockSize = 4096

/** How much of what was not flushed a power cut takes: all of it, or any part, in any order. */
export type Loss = 'all' | 'part'

/** A disk with a volatile write cache, in memory. */
export interface ForgetfulDisk {
  readonly size: number
  /** What was written last, flushed or not, as drives answer. `offset` and `length` count bytes. */
  read(offset: number, length: number): Buffer
  /** Puts whole blocks into the cache. */
  write(offset: number, content: Buffer): void
  /** Puts everything in the cache on the disk. */
  flush(): void
  /**
   * Loses the cache. With `part`, each block in it ends as `chance` has it: as it was on the disk, or as any of the writes
   * since then left it. So writes are lost, torn between blocks, and done in another order than they came.
   * @param chance a whole number from 0 to `limit - 1`
   * @returns how many blocks were in the cache
   */
  lose(loss: Loss, chance: (limit: number) => number): number
}

/** An empty disk of `size` bytes. */
export function createForgetfulDisk(size: number): ForgetfulDisk {
  const flushed = new Map<number, Buffer>()
  /** Every version of a block since the last flush, oldest first. */
  const cache = new Map<number, Buffer[]>()
  const zeros = Buffer.alloc(blockSize)

  const blockAt = (index: number) => cache.get(index)?.at(-1) ?? flushed.get(index) ?? zeros

  return {
    size,
    read(offset, length) {
      const first = Math.floor(offset / blockSize)
      const end = Math.ceil((offset + length) / blockSize)
      const blocks = Array.from({ length: end - first }, (_, index) => blockAt(first + index))
      const start = offset - first * blockSize
      return Buffer.concat(blocks).subarray(start, start + length)
    },
    write(offset, content) {
      if (offset % blockSize !== 0 || content.length % blockSize !== 0) {
        throw new RangeError(`${content.length} bytes at ${offset} are no whole blocks`)
      }
      const copy = Buffer.from(content)
      for (let start = 0; start < copy.length; start += blockSize) {
        const index = (offset + start) / blockSize
        const versions = cache.get(index) ?? []
        versions.push(copy.subarray(start, start + blockSize))
        cache.set(index, versions)
      }
    },
    flush() {
      for (const index of cache.keys()) flushed.set(index, blockAt(index))
      cache.clear()
    },
    lose(loss, chance) {
      const count = cache.size
      for (const [index, versions] of cache) {
        const version = loss === 'part' ? versions[chance(versions.length + 1)] : undefined
        if (version) flushed.set(index, version)
      }
      cache.clear()
      return count
    },
  }
}
