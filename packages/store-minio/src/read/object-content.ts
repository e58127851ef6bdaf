import { FileServiceError, type ByteRange, type OpenBlob } from '@holdfast/core'
import type { StoreBody } from '../http/store-body.ts'

/** How many attempts in a row may end without a byte. */
const mostAttempts = 3

export interface ObjectContent {
  readonly range: ByteRange
  /** Whether a chunk may be overwritten once the next one is asked for. */
  readonly reuseChunks: boolean
  /** Fetches the rest of the same object. The signal aborts when the reader has stopped. */
  readonly goOn: (rest: ByteRange, closed: AbortSignal) => Promise<StoreBody>
}

/**
 * The bytes of a range, which `body` is to bring. When that breaks off, the rest is fetched anew: a node of the store may
 * go down while a large file is being read.
 */
export function createObjectContent(
  body: StoreBody,
  { range, reuseChunks, goOn }: ObjectContent,
): Pick<OpenBlob, 'content' | 'close'> {
  let isClosed = false
  /** Ends the request for the rest, once there has been one. */
  let resuming: AbortController | undefined
  let current = body
  let { offset, length } = range
  let failures = 0

  async function next(): Promise<IteratorResult<Uint8Array, undefined>> {
    for (;;) {
      try {
        const chunk = await current.next()
        if (chunk === undefined && length > 0) throw new Error('The store ended its answer early')
        if (chunk === undefined) return { done: true, value: undefined }
        failures = 0
        offset += chunk.length
        length -= chunk.length
        return { done: false, value: reuseChunks ? chunk : Uint8Array.from(chunk) }
      } catch (error) {
        if (isClosed || ++failures === mostAttempts) throw unreadable(error)
      }
      // The connection broke after the last byte.
      if (length === 0) return { done: true, value: undefined }
      current = await resume()
    }
  }

  async function resume(): Promise<StoreBody> {
    resuming = new AbortController()
    const rest = await goOn({ offset, length }, resuming.signal).catch((error: unknown) => {
      throw unreadable(error)
    })
    if (isClosed) rest.destroy()
    return rest
  }

  const close = async () => {
    isClosed = true
    resuming?.abort()
    current.destroy()
  }
  return {
    content: {
      [Symbol.asyncIterator]: () => ({
        next,
        return: async () => {
          await close()
          return { done: true, value: undefined }
        },
      }),
    },
    close,
  }
}

function unreadable(cause: unknown): FileServiceError {
  return new FileServiceError('store-unavailable', 'The object cannot be read to its end', {
    cause,
  })
}
