import type { IncomingMessage } from 'node:http'

/**
 * Takes the body of `request` where all of it has arrived and nobody has read of it; `undefined` where that is not so, and
 * for bodies whose length was not announced. To read a small one as a stream takes longer than to store it. Whoever makes
 * use of it lets the request come to its end, by `request.resume()`; whoever does not puts it back, by `request.unshift`.
 */
export function takeBodyAtHand(request: IncomingMessage): Buffer | undefined {
  const length = Number(request.headers['content-length'] ?? 0)
  const isThere = length > 0 && request.readableLength === length
  return isThere ? (request.read() as Buffer) : undefined
}

/** `bytes` as content that arrives. */
export async function* contentOf(bytes: Uint8Array): AsyncGenerator<Uint8Array, void, undefined> {
  yield bytes
}
