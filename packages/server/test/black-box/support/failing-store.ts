import type { BlobStore } from '@holdfast/core'

/** A method of a store. */
export type StoreMethod = keyof BlobStore

/** `store`, where every method first throws what `failure` gives for it; with `undefined` it does its work. */
export function failingStore(
  store: BlobStore,
  failure: (method: StoreMethod) => Error | undefined,
): BlobStore {
  const failIfTold = (method: StoreMethod) => {
    const error = failure(method)
    if (error !== undefined) throw error
  }
  return {
    async put(key, content, options) {
      failIfTold('put')
      return store.put(key, content, options)
    },
    async open(key, options) {
      failIfTold('open')
      return store.open(key, options)
    },
    async stat(key) {
      failIfTold('stat')
      return store.stat(key)
    },
    async delete(key) {
      failIfTold('delete')
      return store.delete(key)
    },
    async *list(customer, options) {
      failIfTold('list')
      yield* store.list(customer, options)
    },
    async usage(customer) {
      failIfTold('usage')
      return store.usage(customer)
    },
    async *customers() {
      failIfTold('customers')
      yield* store.customers()
    },
  }
}
