import type { BlobStore } from '@holdfast/core'
import { broken, type Methods } from './broken-store.ts'

const renaming = (rename: (name: string) => string) => (store: BlobStore) =>
  ({
    put: async (key, content, options) => ({
      ...(await store.put({ ...key, name: rename(key.name) }, content, options)),
      name: key.name,
    }),
    open: (key, options) => store.open({ ...key, name: rename(key.name) }, options),
    stat: (key) => store.stat({ ...key, name: rename(key.name) }),
    delete: (key) => store.delete({ ...key, name: rename(key.name) }),
  }) satisfies Methods

/** Flaws in absence, names, usage and customers. */
export const telling = [
  broken('throws for what is absent', 'absence > has no blob in an empty store', (store) => ({
    stat: async (key) => {
      const info = await store.stat(key)
      if (!info) throw new Error('ENOENT')
      return info
    },
  })),
  broken(
    'says true when there was nothing to delete',
    'absence > deletes nothing where there is nothing',
    (store) => ({
      delete: async (key) => {
        await store.delete(key)
        return true
      },
    }),
  ),
  broken('does not delete', 'absence > deletes a blob once', (store) => ({
    delete: async (key) => (await store.stat(key)) !== undefined,
  })),
  broken(
    'looks whether there is a blob before it deletes, and believes that',
    'absence > deletes a blob once, however many deletes come at once',
    (store) => ({
      delete: async (key) => {
        const found = await store.stat(key)
        await store.delete(key)
        return found !== undefined
      },
    }),
  ),
  broken(
    'folds case',
    'naming > finds no twin of a name where only the other is stored',
    renaming((name) => name.toLowerCase()),
  ),
  broken(
    'normalises',
    'naming > keeps names apart that differ in case, normalisation, dots, spaces or escapes',
    renaming((name) => name.normalize()),
  ),
  broken(
    'undoes percent-escapes',
    'naming > keeps a blob called "%41" of a customer called the same',
    renaming((name) => name.replaceAll('%41', 'A')),
  ),
  broken(
    'counts replaced blobs twice',
    'usage > counts a replaced blob by its new size',
    (store) => {
      let bytes = 0
      return {
        async put(key, content, options) {
          const info = await store.put(key, content, options)
          bytes += info.size
          return info
        },
        usage: async (customer) => ({ ...(await store.usage(customer)), bytes }),
      }
    },
  ),
  broken('knows no customers', 'customers > lists 1100 customers', () => ({
    async *customers() {},
  })),
  broken(
    'tells customers in the order of JavaScript',
    'customers > lists customers of any name, each once, in the order of their UTF-8 bytes',
    (store) => ({
      async *customers() {
        const found: string[] = []
        for await (const customer of store.customers()) found.push(customer)
        yield* found.sort()
      },
    }),
  ),
  broken(
    'tells a customer once for every blob',
    'customers > lists customers of any name, each once, in the order of their UTF-8 bytes',
    (store) => ({
      async *customers() {
        for await (const customer of store.customers()) {
          for await (const page of store.list(customer)) yield* page.map(() => customer)
        }
      },
    }),
  ),
  broken(
    'forgets a customer with the first deletion',
    'customers > lists a customer who keeps one of two blobs',
    (store) => {
      const forgotten = new Set<string>()
      return {
        async delete(key) {
          forgotten.add(key.customer)
          return store.delete(key)
        },
        async *customers() {
          for await (const customer of store.customers())
            if (!forgotten.has(customer)) yield customer
        },
      }
    },
  ),
  broken(
    'joins customer and name',
    'isolation > shows customer a nothing of customer ab, and the other way round',
    (store) => ({
      put: (key, content, options) =>
        store.put({ customer: '', name: key.customer + key.name }, content, options),
      open: (key, options) => store.open({ customer: '', name: key.customer + key.name }, options),
      stat: (key) => store.stat({ customer: '', name: key.customer + key.name }),
    }),
  ),
]
