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

const KiB = 1024

/** A prime number of bytes: no piece is like another one that begins elsewhere at a round number. */
const period = Buffer.from(Array.from({ length: 65_521 }, (_, at) => (at * 167 + (at >> 8)) & 255))

/** `length` bytes of a content from `offset` on. They differ from those at other offsets, so that a misplaced piece shows. */
export function bytesAt(offset: number, length: number): Buffer {
  const start = offset % period.length
  const times = Math.ceil((start + length) / period.length)
  return Buffer.concat(Array.from({ length: times }, () => period)).subarray(start, start + length)
}

/** The same bytes in chunks of 64 KiB. */
export async function* piece(offset: number, length: number) {
  for (let at = 0; at < length; at += 64 * KiB) {
    yield bytesAt(offset + at, Math.min(64 * KiB, length - at))
  }
}

/** Whole numbers from 0 to `below - 1`, the same sequence for the same seed. */
export function seeded(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    // The mulberry32 generator: small, and even enough to shuffle a test.
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below
  }
}
