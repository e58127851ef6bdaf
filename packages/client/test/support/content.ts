import { createHash } from 'node:crypto'

export const mebibyte = 1024 ** 2

/** Bytes of which no two places look alike. */
export function contentOf(size: number): Buffer {
  const bytes = Buffer.alloc(size)
  for (let at = 0; at + 4 <= size; at += 4)
    bytes.writeUInt32LE(Math.imul(at, 2_654_435_761) >>> 0, at)
  return bytes
}

/** The same bytes, so many at a time. */
export async function* inChunks(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

export function digestOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}
