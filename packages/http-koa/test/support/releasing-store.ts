import type { BlobStore } from '@holdfast/core'
import { createMemoryBlobStore } from '@holdfast/core/memory'

/** A store that copies what it is given, and counts what became of it. */
export interface ReleasingStore extends BlobStore {
  /** Bytes taken. */
  readonly taken: () => number
  /** Bytes whose memory was gone when the chunk had been released. */
  readonly freed: () => number
}

/** A store in memory that releases every chunk. */
export function createReleasingStore(): ReleasingStore {
  const store = createMemoryBlobStore()
  let taken = 0
  let freed = 0

  async function* copying(
    content: AsyncIterable<Uint8Array>,
    release: (chunk: Uint8Array) => void = () => {},
  ) {
    for await (const chunk of content) {
      const copy = Uint8Array.from(chunk)
      release(chunk)
      taken += copy.length
      freed += copy.length - chunk.length
      yield copy
    }
  }

  return {
    ...store,
    taken: () => taken,
    freed: () => freed,
    put: (key, content, options) => store.put(key, copying(content, options?.release), options),
  }
}
