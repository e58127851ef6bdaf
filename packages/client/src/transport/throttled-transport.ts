import { shortLivedChunks } from '../shared/chunks.ts'
import { createNodeTransport } from './node-transport.ts'
import type { RequestBody, Transport } from './transport.ts'

/** Decides when bytes may move. */
export interface Throttle {
  /** Bytes; larger chunks are moved in pieces. */
  readonly largestChunk: number
  /** Resolves when so many more bytes may be sent, or have been received. Rejects with the signal's reason. */
  wait(bytes: number, signal: AbortSignal): Promise<void>
}

/** A transport for Node whose contents, up and down, move as `throttle` allows. Requests that share it share the throttle. */
export function createThrottledTransport(throttle: Throttle): Transport {
  const send = createNodeTransport()
  return async (request) => {
    const { body, signal } = request
    const response = await send({
      ...request,
      ...(body !== undefined && { body: throttled(chunksIn(body), throttle, signal) }),
    })
    return { ...response, body: throttled(response.body, throttle, signal) }
  }
}

function chunksIn(body: RequestBody): Iterable<Uint8Array> | AsyncIterable<Uint8Array> {
  if (body instanceof Uint8Array) return [body]
  return body instanceof Blob ? body.stream() : shortLivedChunks(body)
}

async function* throttled(
  chunks: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
  throttle: Throttle,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array, void> {
  const { largestChunk } = throttle
  for await (const chunk of chunks) {
    for (let at = 0; at < chunk.length; at += largestChunk) {
      const part = chunk.subarray(at, at + largestChunk)
      await throttle.wait(part.length, signal)
      yield part
    }
  }
}
