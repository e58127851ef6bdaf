/** The bytes of a request. An iterable is read only once. */
export type RequestBody = Uint8Array | Blob | AsyncIterable<Uint8Array>

export interface TransportRequest {
  readonly method: string
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
  readonly body?: RequestBody
  /** How many bytes the body has, if that is known. */
  readonly size?: number
  /** Whether a browser finishes the request even if the page is closed meanwhile. */
  readonly keepalive?: boolean
  readonly signal: AbortSignal
  /** Whether a successful answer begins before the whole body has been sent, and so must not stop the sending. Default: false. */
  readonly isAnsweredMeanwhile?: boolean
  /** Whether a chunk of the answer may be valid only until the next one is asked for. Default: false. */
  readonly reuseMemory?: boolean
  /** Called with how many bytes of the body have been sent so far. Never throws. */
  readonly onSent?: (bytes: number) => void
}

export interface TransportResponse {
  readonly status: number
  /** A header's value; the name is in lower case. */
  header(name: string): string | undefined
  /** Throws if the connection breaks. */
  readonly body: AsyncIterable<Uint8Array>
}

/**
 * Sends requests on a platform. It never holds a whole body in memory. An answer that comes before the body is sent stops the sending.
 *
 * Rejects if no answer comes, and with the signal's reason when that aborts.
 */
export interface Transport {
  (request: TransportRequest): Promise<TransportResponse>
  /** Whether it never calls `onSent`, so that only answers to small pieces show how far an upload is. Default: false. */
  readonly isSilent?: boolean
}

/**
 * The chunks of a stream, also in browsers that cannot iterate over streams. Stopping early cancels the stream, and so does `signal`,
 * without waiting for the next chunk.
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

/** The key of a second iterator. */
export const reusing: unique symbol = Symbol('reusing')

/**
 * Bytes that can also be read into reused memory: a chunk of `[reusing]` is valid only until the next one is asked for. Only this package
 * uses that; other readers get chunks of their own.
 */
export interface ReusingChunks extends AsyncIterable<Uint8Array> {
  [reusing](): AsyncIterable<Uint8Array>
}

/** The chunks, in reused memory if possible: each is valid only until the next one is asked for. */
export function shortLivedChunks(chunks: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
  return isReusing(chunks) ? chunks[reusing]() : chunks
}

const isReusing = (chunks: AsyncIterable<Uint8Array>): chunks is ReusingChunks => reusing in chunks

/** Bytes that stay in the processor's cache between two steps. */
export const cachedChunk = 64 * 1024

/** Bytes passed on at a time: with more, a slow connection would show no progress for minutes. */
export const smallChunk = 256 * 1024

/** The same for a fast connection, where each chunk costs the processor about as much as its bytes. */
export const largeChunk = 1024 ** 2
