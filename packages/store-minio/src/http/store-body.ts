import type { Readable } from 'node:stream'

/** A body of an answer of the store, taken piece by piece. */
export interface StoreBody {
  /**
   * The next bytes, of any number but 0; `undefined` at the end. They are good until the next call, which may overwrite
   * them. Not to be called again before it has settled.
   */
  readonly next: () => Promise<Uint8Array | undefined>
  /** Gives the rest up. Needless after the end. */
  readonly destroy: () => void
  /** All of it, where it has come already; nobody overwrites these. */
  readonly bytes?: Uint8Array
}

/** A body that has come already. */
export function inMemory(bytes: Uint8Array): StoreBody {
  const chunks = bytes.length > 0 ? [bytes] : []
  return { bytes, next: async () => chunks.shift(), destroy: () => {} }
}

/** A body that Node's client has brought. */
export function fromReadable(stream: Readable): StoreBody {
  // A body that fails while nobody reads it tells so when it is read, and does not end the process before.
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
