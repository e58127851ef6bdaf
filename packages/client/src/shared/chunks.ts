/**
 * The chunks of a stream, also in browsers that do not iterate theirs. To stop early cancels it, and so does `signal`, which does not
 * wait for the next chunk.
 */
export async function* chunksOf(
  stream: ReadableStream<Uint8Array>,
  signal?: AbortSignal,
): AsyncGenerator<Uint8Array, void> {
  const reader = stream.getReader()
  signal?.addEventListener('abort', () => void reader.cancel().catch(() => {}), { once: true })
  try {
    while (true) {
      const { done, value } = await reader.read()
      if (done) return
      yield value
    }
  } finally {
    await reader.cancel().catch(() => {})
  }
}

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

/** So much stays in the processor's cache from one step to the next. */
export const cachedChunk = 64 * 1024

/** So many bytes are handed over at a time: of more, a slow line would show no progress for minutes. */
export const smallChunk = 256 * 1024

/** So many on a quick line, where each chunk costs the processor about as much as its bytes. */
export const largeChunk = 1024 ** 2
