interface BlobKey {
  readonly customer: string
  readonly name: string
}

/** What is read of a `BlobStore`. Core's own tests use this package, so core's types are not imported. */
interface ReadableStore {
  open(key: BlobKey): Promise<{ readonly content: AsyncIterable<Uint8Array> } | undefined>
  list(customer: string): AsyncIterable<readonly string[]>
  customers(): AsyncIterable<string>
}

/** All that a store keeps, as `customer/name` and text. */
export async function contentOf(store: ReadableStore): Promise<Record<string, string>> {
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

/** Puts `text` into a store, and resolves with what `put` does. */
export async function putText<Info>(
  store: { put(key: BlobKey, content: AsyncIterable<Uint8Array>): Promise<Info> },
  customer: string,
  name: string,
  text: string,
): Promise<Info> {
  return store.put({ customer, name }, textContent(text))
}

/** All items, in order. */
export async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const collected: T[] = []
  for await (const item of items) collected.push(item)
  return collected
}

/** What is under a key, as text; `undefined` if nothing is. */
async function readText(store: ReadableStore, key: BlobKey): Promise<string | undefined> {
  const blob = await store.open(key)
  return blob && Buffer.concat(await collect(blob.content)).toString()
}

async function* textContent(text: string) {
  yield Buffer.from(text)
}
