import type { BlobStore } from '@holdfast/core'
import { createMemoryBlobStore } from '@holdfast/core/memory'

/** A store that counts what is under way in it. */
export interface WatchedStore extends BlobStore {
  /** Puts that have not settled. */
  readonly puts: () => number
  /** Bytes that the puts have taken so far. */
  readonly taken: () => number
}

/** A store in memory that can be made to wait before it takes each chunk. */
export function watchStore(beforeChunk: () => Promise<unknown> = async () => {}): WatchedStore {
  const store = createMemoryBlobStore()
  let puts = 0
  let taken = 0

  async function* slowly(content: AsyncIterable<Uint8Array>) {
    for await (const chunk of content) {
      await beforeChunk()
      taken += chunk.length
      yield chunk
    }
  }

  return {
    ...store,
    puts: () => puts,
    taken: () => taken,
    async put(key, content, options) {
      puts++
      try {
        return await store.put(key, slowly(content), options)
      } finally {
        puts--
      }
    },
  }
}
