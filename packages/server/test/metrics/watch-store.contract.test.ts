import { describeBlobStore } from '@holdfast/contract'
import { createMemoryBlobStore } from '@holdfast/core/memory'
import { watchStore } from '../../src/metrics/watch-store.ts'

const MiB = 1024 * 1024

describeBlobStore(
  'a store that is watched',
  async () => {
    let uploads = 0
    const memory = { ...createMemoryBlobStore(), probe: async () => {}, close: async () => {} }
    const store = watchStore(memory, {
      onDone() {},
      onFailed() {},
      onUploads: (change) => void (uploads += change),
    })
    return {
      store,
      openAgain: async () => store,
      litter: async () => [],
      heldResources: async () => uploads,
      dispose: async () => {},
    }
  },
  { putMemory: 160 * MiB },
)
