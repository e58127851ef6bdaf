import type { IncomingMessage } from 'node:http'
import { cachedChunk } from '../streams/chunk-sizes.ts'
import { canReadDirectly, readDirectly } from './direct-reads.ts'
import { createDoubleBuffer } from './double-buffer.ts'

/** A smaller body is not worth its connection, which is not used again. */
const leastSize = 4 * 1024 ** 2

/** Writers of files like to write so much at a time. */
const chunkSize = 512 * 1024

/**
 * The body of a response. A large one of known size is taken from the socket without the parser of HTTP, which copies each read into new
 * memory. The next chunk is received while the reader works with the one before.
 *
 * @param reuseMemory whether a chunk may be valid only until the next one is asked for
 */
export function bodyOf(response: IncomingMessage, reuseMemory: boolean): AsyncIterable<Uint8Array> {
  const size = Number(response.headers['content-length'])
  const isDirect = size >= leastSize && canReadDirectly(response.socket)
  return isDirect ? directBody(response, size, reuseMemory) : response
}

async function* directBody(
  response: IncomingMessage,
  size: number,
  reuseMemory: boolean,
): AsyncGenerator<Uint8Array, void> {
  // To a HEAD none follows; and a connection that has broken gives its error.
  if (response.complete || response.destroyed) return yield* response
  try {
    // It came with the head, so the parser has it already.
    const first = response.read() as Buffer | null
    const arriving = receive(response, size - (first?.length ?? 0))
    if (first) yield first
    for await (const chunk of arriving) yield reuseMemory ? chunk : new Uint8Array(chunk)
  } finally {
    // The parser waits for the body, so no other request can follow.
    response.destroy()
  }
}

/** Begins at once to receive the next `size` bytes. Each chunk is valid until the next one is asked for. */
function receive(response: IncomingMessage, size: number): AsyncGenerator<Uint8Array, void> {
  const { socket } = response
  const buffer = createDoubleBuffer(chunkSize, cachedChunk)
  let left = size
  let failure: Error | undefined
  let notify = () => {}
  const fail = (error = new Error('The connection broke')) => {
    failure ??= error
    notify()
  }
  readDirectly(socket, (bytes) => {
    const own = bytes.subarray(0, left)
    left -= own.length
    const hasRoom = buffer.add(own)
    notify()
    return hasRoom && left > 0
  })
  response.once('error', fail).once('close', fail)
  socket.resume()
  return chunks()

  async function* chunks() {
    while (true) {
      const chunk = buffer.take()
      if (chunk) {
        socket.resume()
        yield chunk
      } else if (left === 0) return
      else if (failure) throw failure
      else await new Promise<void>((resolve) => (notify = resolve))
    }
  }
}
