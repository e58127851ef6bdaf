import type { BlobKey, BlobStore } from '@holdfast/core'

/** Puts `text` into a store. */
export async function putText(store: BlobStore, customer: string, name: string, text: string) {
  return store.put({ customer, name }, textContent(text))
}

/** What is under a key, as text; `undefined` if nothing is. */
export async function readText(store: BlobStore, key: BlobKey): Promise<string | undefined> {
  const blob = await store.open(key)
  return blob && Buffer.concat(await collect(blob.content)).toString()
}

/** All items, in order. */
export async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const collected: T[] = []
  for await (const item of items) collected.push(item)
  return collected
}

/** All that a store keeps, as `customer/name` and text. */
export async function contentOf(store: BlobStore): Promise<Record<string, string>> {
  const found: Record<string, string> = {}
  for await (const customer of store.customers()) {
    for await (const names of store.list(customer)) {
      for (const name of names) {
        found[`${customer}/${name}`] = (await readText(store, { customer, name })) ?? ''
      }
    }
  }
  return found
}

async function* textContent(text: string) {
  yield Buffer.from(text)
}
