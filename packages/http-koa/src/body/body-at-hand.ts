import type { IncomingMessage } from 'node:http'

/**
 * Takes the body of `request` if all of it has arrived and nothing has read from it; otherwise, and for bodies without an
 * announced length, `undefined`. Reading a small body as a stream takes longer than storing it. A caller who uses the body
 * then calls `request.resume()`, so that the request ends; a caller who does not puts it back with `request.unshift`.
 */
export function takeBodyAtHand(request: IncomingMessage): Buffer | undefined {
  const length = Number(request.headers['content-length'] ?? 0)
  const isThere = length > 0 && request.readableLength === length
  return isThere ? (request.read() as Buffer) : undefined
}
