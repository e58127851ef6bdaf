import type { BlobStore, OpenBlob } from '@holdfast/core'
import { createMemoryBlobStore } from '@holdfast/core/memory'
import { opening, harnessOf, type BrokenStore, type Methods } from './broken-store.ts'

/** A store in which opened blobs hold something until `released` says otherwise. */
function holding(
  flaw: string,
  test: string,
  wrap: (blob: OpenBlob, release: () => void) => OpenBlob,
): BrokenStore {
  const open = async () => {
    const held = new Set<OpenBlob>()
    const breakIt = opening((blob) => {
      held.add(blob)
      return wrap(blob, () => held.delete(blob))
    })
    return harnessOf(breakIt, { heldResources: async () => held.size })
  }
  return { flaw, test, open }
}

async function* releasingAtEnd(content: AsyncIterable<Uint8Array>, release: () => void) {
  yield* content
  release()
}

async function* releasingFinally(content: AsyncIterable<Uint8Array>, release: () => void) {
  try {
    yield* content
  } finally {
    release()
  }
}

/** Flaws in releasing, tidying and sharing. */
export const leaking = [
  holding(
    'holds on when reading stops early',
    'streaming > holds nothing once a blob of 5242880 bytes is read in part',
    (blob, release) => ({
      ...blob,
      content: releasingAtEnd(blob.content, release),
      close: async () => release(),
    }),
  ),
  holding(
    'holds on when reading stops before it begins',
    'streaming > holds nothing once a blob of 1 bytes is given up before the first chunk',
    (blob, release) => ({
      ...blob,
      content: releasingFinally(blob.content, release),
      close: async () => release(),
    }),
  ),
  holding(
    'holds on when closed unread',
    'streaming > holds nothing once a blob of 1 bytes is closed before reading',
    (blob, release) => ({
      ...blob,
      content: releasingFinally(blob.content, release),
    }),
  ),
  {
    flaw: 'leaves litter when content fails',
    test: 'interrupted writes > leaves nothing when content fails in the middle',
    async open() {
      const litter: string[] = []
      const breakIt = (store: BlobStore): Methods => ({
        async put(key, content, options) {
          litter.push('.tmp-1')
          const info = await store.put(key, content, options)
          litter.pop()
          return info
        },
      })
      return harnessOf(breakIt, { litter: async () => litter })
    },
  },
  {
    flaw: 'acknowledges what only its own process knows',
    test: 'sharing > shows another opening a blob once put has resolved',
    open: async () => harnessOf(undefined, { openAgain: async () => createMemoryBlobStore() }),
  },
]
