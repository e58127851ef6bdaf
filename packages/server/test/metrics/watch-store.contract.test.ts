import {
  describeBlobStore,
  describeHistory,
  describeRenaming,
  describeResumableUploads,
} from '@holdfast/contract'
import { createMemoryBlobStore } from '@holdfast/core/memory'
import { watchStore } from '../../src/metrics/store-metrics.ts'

const MiB = 1024 * 1024

async function open() {
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
}

describeBlobStore('a store that is watched', open, { putMemory: 160 * MiB })
describeHistory('a store that is watched', open)
describeRenaming('a store that is watched', open)
describeHistory('a store that is watched', open)
describeResumableUploads('a store that is watched', open, { appendMemory: 544 * MiB })
