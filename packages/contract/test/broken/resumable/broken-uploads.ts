import type { BlobStore, ResumableUploads } from '@holdfast/core'
import { uploadsOf } from '../../../src/support/resumable-harness.ts'
import type { BlobStoreHarness } from '../../../src/support/suite.ts'
import { harnessOf, type BrokenStore } from '../broken-store.ts'

/** What a flaw puts in the place of sound methods of `resumable`. */
export type UploadMethods = Partial<ResumableUploads>

/** A memory store whose uploads have a flaw, and the test that has to notice. */
export function brokenUploads(
  flaw: string,
  test: string,
  breakIt: (uploads: ResumableUploads, store: BlobStore) => UploadMethods,
  windows: (store: BlobStore) => Partial<BlobStoreHarness> = () => ({}),
): BrokenStore {
  return {
    flaw,
    test,
    open: async () => {
      const harness = harnessOf((store) => {
        const sound = uploadsOf(store)
        return { resumable: { ...sound, ...breakIt(sound, store) } }
      })
      return { ...harness, ...windows(harness.store) }
    },
  }
}

/** `content` without its last byte. */
export async function* withoutLastByte(content: AsyncIterable<Uint8Array>) {
  let held: Uint8Array | undefined
  for await (const chunk of content) {
    if (held) yield held
    held = chunk
  }
  if (held) yield held.subarray(0, -1)
}
