import type { Readable } from 'node:stream'
import { FileServiceError, type ByteRange, type OpenBlob } from '@holdfast/core'

/** How often in a row reading is taken up again without a byte having come. */
const mostAttempts = 3

/**
 * The bytes of `range`, which `body` is to bring. When that breaks off, `goOn` fetches the rest of the same object: a
 * node of the store may go down while a large file is being read. Its signal aborts when nobody reads on.
 */
export function createObjectContent(
  body: Readable,
  range: ByteRange,
  goOn: (rest: ByteRange, closed: AbortSignal) => Promise<Readable>,
): Pick<OpenBlob, 'content' | 'close'> {
  let current = keepQuiet(body)
  const closed = new AbortController()

  async function* content() {
    let { offset, length } = range
    let failures = 0
    for (;;) {
      try {
        for await (const chunk of current as AsyncIterable<Buffer>) {
          failures = 0
          offset += chunk.length
          length -= chunk.length
          yield chunk
        }
        if (length === 0) return
        throw new Error('The store ended its answer early')
      } catch (error) {
        if (closed.signal.aborted || ++failures === mostAttempts) throw unreadable(error)
      }
      // It broke off behind the last byte.
      if (length === 0) return
      current = await resume({ offset, length })
    }
  }

  async function resume(rest: ByteRange): Promise<Readable> {
    const more = await goOn(rest, closed.signal).catch((error: unknown) => {
      throw unreadable(error)
    })
    if (closed.signal.aborted) more.destroy()
    return keepQuiet(more)
  }

  const bytes = content()
  const close = () => {
    closed.abort()
    current.destroy()
  }
  return {
    content: {
      [Symbol.asyncIterator]: () => ({
        next: () => bytes.next(),
        // First of all, since a generator that has not begun has nothing to end, and one that waits ends too late.
        return: () => {
          close()
          return bytes.return()
        },
      }),
    },
    close: async () => close(),
  }
}

/** A body that fails while nobody reads it tells so when it is read, and does not end the process before. */
function keepQuiet(body: Readable): Readable {
  return body.on('error', () => {})
}

function unreadable(cause: unknown): FileServiceError {
  return new FileServiceError('store-unavailable', 'The object cannot be read to its end', {
    cause,
  })
}
