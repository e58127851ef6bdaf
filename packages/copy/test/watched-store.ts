import type { BlobKey, BlobStore } from '@holdfast/core'

/** What is done before a method does its work; what it throws, the method throws. */
export type BeforeCall = (method: 'put' | 'open' | 'stat' | 'delete', key: BlobKey) => unknown

/** `store`, where `before` is waited for before every call for one blob. */
export function watchedStore(store: BlobStore, before: BeforeCall): BlobStore {
  return {
    ...store,
    async put(key, content, options) {
      await before('put', key)
      return store.put(key, content, options)
    },
    async open(key, options) {
      await before('open', key)
      return store.open(key, options)
    },
    async stat(key) {
      await before('stat', key)
      return store.stat(key)
    },
    async delete(key) {
      await before('delete', key)
      return store.delete(key)
    },
  }
}
