import type { BlobStore, OpenBlob } from '@holdfast/core'
import { createMemoryBlobStore } from '@holdfast/core/memory'
import type { BlobStoreHarness } from '../../src/support/suite.ts'

/** A store broken on purpose and the test that has to notice. */
export interface BrokenStore {
  readonly flaw: string
  readonly test: string
  readonly open: () => Promise<BlobStoreHarness>
}

/** What a flaw puts in the place of sound methods. */
export type Methods = Partial<BlobStore>

/** A harness over a memory store in which `flaw` replaces methods. */
export function harnessOf(
  flaw: (store: BlobStore) => Methods = () => ({}),
  windows: Partial<BlobStoreHarness> = {},
): BlobStoreHarness {
  const sound = createMemoryBlobStore()
  const store = { ...sound, ...flaw(sound) }
  return {
    store,
    openAgain: async () => store,
    litter: async () => [],
    heldResources: async () => 0,
    dispose: async () => {},
    ...windows,
  }
}

/** A memory store with a flaw, and the test that has to notice. */
export function broken(
  flaw: string,
  test: string,
  breakIt: (store: BlobStore) => Methods,
): BrokenStore {
  return { flaw, test, open: async () => harnessOf(breakIt) }
}

/** All bytes of `content`. */
export async function collect(content: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const parts: Uint8Array[] = []
  for await (const part of content) parts.push(part)
  return Buffer.concat(parts)
}

/** Content of one chunk. */
export async function* once(bytes: Uint8Array) {
  yield bytes
}

/** `content` with every chunk changed, ending where `map` gives `undefined`. */
export async function* mapChunks(
  content: AsyncIterable<Uint8Array>,
  map: (chunk: Uint8Array) => Uint8Array | undefined,
) {
  for await (const chunk of content) {
    const mapped = map(chunk)
    if (mapped === undefined) return
    yield mapped
  }
}

/** A flaw in the blobs that a store opens. */
export const opening =
  (change: (blob: OpenBlob) => OpenBlob) =>
  (store: BlobStore): Methods => ({
    async open(key, options) {
      const blob = await store.open(key, options)
      return blob && change(blob)
    },
  })

/** `entries` in pages. */
export function* inPages<T>(entries: readonly T[]) {
  for (let at = 0; at < entries.length; at += 1000) yield entries.slice(at, at + 1000)
}
