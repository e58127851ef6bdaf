import type { BlobStore } from '@holdfast/core'
import { broken, mapChunks, once, type Methods } from './broken-store.ts'

/** A chunk as `Uint8Array.prototype.set` takes it: a string of text is so many zeros, what has no length nothing. */
function asZeros(chunk: Uint8Array): Uint8Array {
  const length: unknown = (chunk as Uint8Array | null | undefined)?.length
  return chunk instanceof Uint8Array
    ? chunk
    : new Uint8Array(typeof length === 'number' ? length : 0)
}

function isMissing(chunk: unknown): boolean {
  return chunk === undefined
}

const taking =
  (change: (chunk: Uint8Array) => Uint8Array | undefined) =>
  (store: BlobStore): Methods => ({
    put: (key, content, options) => store.put(key, mapChunks(content, change), options),
  })

/** Flaws in what is taken for bytes. */
export const decoding = [
  broken(
    'keeps zeros for the characters of a string',
    'chunks of bytes > refuses a chunk that is a string',
    taking(asZeros),
  ),
  broken(
    'keeps the text of a string as UTF-8',
    'chunks of bytes > keeps the earlier blob when a string comes after 1000 bytes',
    taking((chunk) => (typeof chunk === 'string' ? Buffer.from(chunk) : chunk)),
  ),
  broken(
    'takes the end of text for the end of the content',
    'chunks of bytes > refuses a chunk that is an empty string',
    taking((chunk) => (chunk instanceof Uint8Array ? chunk : undefined)),
  ),
  broken(
    'passes over what is undefined',
    'chunks of bytes > refuses a chunk that is undefined',
    taking((chunk) => (isMissing(chunk) ? new Uint8Array() : chunk)),
  ),
  broken(
    'takes detached bytes for an empty chunk',
    'chunks of bytes > refuses a chunk that is a detached Uint8Array',
    taking((chunk) => (chunk instanceof Uint8Array && chunk.length === 0 ? undefined : chunk)),
  ),
  broken(
    'keeps what came before the string',
    'chunks of bytes > keeps the earlier blob when a string comes after 9437184 bytes',
    (store) => ({
      async put(key, content, options) {
        for await (const chunk of content) {
          if (!(chunk instanceof Uint8Array)) throw new TypeError('Not bytes')
          await store.put(key, once(chunk))
        }
        return store.put(key, once(new Uint8Array()), options)
      },
    }),
  ),
  broken(
    'leaves the content open',
    'chunks of bytes > refuses a chunk that is a string',
    (store) => ({
      async put(key, content, options) {
        const iterator = content[Symbol.asyncIterator]()
        async function* left() {
          while (true) {
            const step = await iterator.next()
            if (step.done === true) return
            yield step.value
          }
        }
        return store.put(key, left(), options)
      },
    }),
  ),
]
