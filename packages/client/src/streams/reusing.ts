/** The key of a second way to iterate. */
export const reusing: unique symbol = Symbol('reusing')

/**
 * Bytes that can also be read into memory that is used again: what `[reusing]` yields is valid until the next chunk is asked for. For
 * readers of this package alone; those outside get chunks of their own.
 */
export interface ReusingChunks extends AsyncIterable<Uint8Array> {
  [reusing](): AsyncIterable<Uint8Array>
}

/** The chunks, each of which is valid until the next one is asked for. */
export function passingChunks(chunks: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
  return isReusing(chunks) ? chunks[reusing]() : chunks
}

const isReusing = (chunks: AsyncIterable<Uint8Array>): chunks is ReusingChunks => reusing in chunks
