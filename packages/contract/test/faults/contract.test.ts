import { createMemoryBlobStore } from '@holdfast/core/memory'
import { describeBlobStore } from '../../src/describe-blob-store.ts'
import { createFaults } from '../../src/faults/faults.ts'
import { injectFaults } from '../../src/faults/inject-faults.ts'
import { MiB } from '../../src/support/sources.ts'

describeBlobStore(
  'a store with injected faults, none of them planned,',
  async () => {
    const faults = createFaults()
    const store = injectFaults(createMemoryBlobStore(), faults)
    return {
      store,
      openAgain: async () => store,
      litter: async () => [],
      heldResources: async () => faults.underWay(),
      dispose: async () => {},
    }
  },
  { putMemory: 160 * MiB },
)
