import { FileServiceError, type BlobStore } from '@holdfast/core'
import { createMemoryBlobStore } from '@holdfast/core/memory'

/** A store in memory that cannot be reached the first time that one of `names` is stored. */
export function createBrokenStore(names: readonly string[]): BlobStore {
  const store = createMemoryBlobStore()
  const left = new Set(names)
  return {
    ...store,
    put: (key, ...rest) => {
      if (!left.delete(key.name)) return store.put(key, ...rest)
      return Promise.reject(new FileServiceError('store-unavailable', 'Storage unavailable'))
    },
  }
}
