import type { IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import { discardRest } from './chunks-of.ts'

export interface DrainOptions {
  /** How much of an unwanted body is read at most, in bytes. */
  readonly maxBytes: number
  /** How long an unwanted body is read at most, in milliseconds. */
  readonly maxMs: number
}

/** The client reads an early answer if it sends no more than this after it. Beyond these bounds the answer may be lost. */
const defaultDrain: DrainOptions = { maxBytes: 64 * 1024 * 1024, maxMs: 10_000 }

/** A body up to this size is read to its end for the sake of the connection. In bytes. */
const smallBody = 256 * 1024

/**
 * Whether the rest of the request's body is known to be too large to be worth reading for the sake of the connection.
 */
export function hasLargeRest(request: IncomingMessage): boolean {
  return !request.complete && Number(request.headers['content-length'] ?? 0) > smallBody
}

/**
 * `answer` as a stream that ends only when the rest of the request's body has been read, or a bound is reached; then
 * the connection is cut. A server that closes a socket with unread bytes sends a reset, which can overtake the answer
 * and take it from the client (RFC 9112 §9.6). The client sees the whole answer at once, by its Content-Length.
 */
export function answerWhileDraining(
  answer: string,
  request: IncomingMessage,
  options: DrainOptions = defaultDrain,
): Readable {
  return Readable.from(
    (async function* () {
      yield Buffer.from(answer)
      await readRest(request, options)
    })(),
    { objectMode: false },
  )
}

async function readRest(request: IncomingMessage, { maxBytes, maxMs }: DrainOptions) {
  if (request.complete || request.destroyed) return
  const { socket } = request
  const readBefore = socket.bytesRead
  const { promise, resolve } = Promise.withResolvers<undefined>()
  const done = () => resolve(undefined)
  // Counted on the socket: it may be multer that reads the rest.
  const watch = setInterval(() => {
    if (socket.bytesRead - readBefore > maxBytes) done()
  }, 20)
  const timer = setTimeout(done, maxMs)
  request.once('end', done).once('close', done).once('error', done)
  discardRest(request)
  await promise
  clearInterval(watch)
  clearTimeout(timer)
  if (!request.readableEnded) socket.destroy()
}
