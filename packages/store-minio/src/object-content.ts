import type { Readable } from 'node:stream'
import { FileServiceError, type ByteRange, type OpenBlob } from '@holdfast/core'

/** How often in a row reading is taken up again without a byte having come. */
const mostAttempts = 3

/**
 * The bytes of `range`, which `body` is to bring. When that breaks off, `goOn` fetches the rest of the same object: a
 * node of the store may go down while a large file is being read.
 */
export function createObjectContent(
  body: Readable,
  range: ByteRange,
  goOn: (rest: ByteRange) => Promise<Readable>,
): Pick<OpenBlob, 'content' | 'close'> {
  let current = keepQuiet(body)
  let isClosed = false

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
        if (isClosed || ++failures === mostAttempts) throw unreadable(error)
      }
      current = keepQuiet(await goOn({ offset, length }))
    }
  }

  const bytes = content()
  const close = () => {
    isClosed = true
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
