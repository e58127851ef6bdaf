import type { ByteRange, RangeRequest } from '@holdfast/core'

/*
 * What is stored of a file: one byte for the version of this form, 32 random bytes, and the content in chunks of 64
 * KiB, of which the last may be shorter or empty, each followed by a tag of 16 bytes. So the size of the one gives
 * the size of the other, and a part of a file can be read without the rest.
 */
export const formVersion = 1
export const saltSize = 32
export const headerSize = 1 + saltSize
export const chunkSize = 64 * 1024
export const tagSize = 16
export const sealedChunkSize = chunkSize + tagSize

/** The size of a file of which `sealedSize` bytes are stored; 0 for what is none. */
export function plainSize(sealedSize: number): number {
  const chunks = Math.ceil((sealedSize - headerSize) / sealedChunkSize)
  return Math.max(0, sealedSize - headerSize - chunks * tagSize)
}

/** The number of the last chunk of a file of `size` bytes. */
export function lastChunk(size: number): number {
  return Math.max(0, Math.ceil(size / chunkSize) - 1)
}

/** The first chunk that is needed for `range`, and where to find all that are. */
export function chunksOf({ offset, length }: ByteRange): { first: number; stored: RangeRequest } {
  const first = Math.floor(offset / chunkSize)
  const behind = Math.floor((offset + length - 1) / chunkSize) + 1
  return {
    first,
    stored: {
      first: headerSize + first * sealedChunkSize,
      last: headerSize + behind * sealedChunkSize - 1,
    },
  }
}
