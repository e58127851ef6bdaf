import type { Readable } from 'node:stream'

/** The body of an answer of the store, read piece by piece. */
export interface StoreBody {
  /**
   * Resolves with the next bytes, at least one, or with `undefined` at the end. They are valid until the next call, which
   * may overwrite them. The caller waits until one call has settled before it makes the next.
   */
  readonly next: () => Promise<Uint8Array | undefined>
  /** Drops the rest. Not needed after the end. */
  readonly destroy: () => void
  /** The whole body, if it is in memory; these bytes are never overwritten. */
  readonly bytes?: Uint8Array
}

/** Returns a body that is in memory. */
export function inMemory(bytes: Uint8Array): StoreBody {
  const chunks = bytes.length > 0 ? [bytes] : []
  return { bytes, next: async () => chunks.shift(), destroy: () => {} }
}

/** Returns a body that is read from a stream of Node. */
export function fromReadable(stream: Readable): StoreBody {
  // Without a listener an error would end the process; the iterator throws it when the body is read.
  stream.on('error', () => {})
  const chunks = (stream as AsyncIterable<Buffer>)[Symbol.asyncIterator]()
  return {
    next: async () => {
      const step = await chunks.next()
      return step.done === true ? undefined : step.value
    },
    destroy: () => stream.destroy(),
  }
}
