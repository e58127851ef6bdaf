import { createMemoryBlobStore } from '@holdfast/core/memory'
import { describeBlobStore } from '../../src/describe-blob-store.ts'
import { describeLinkGenerations } from '../../src/describe-link-generations.ts'
import { describeRenaming } from '../../src/describe-renaming.ts'
import { describeResumableUploads } from '../../src/describe-resumable-uploads.ts'
import { createFaults, injectFaults } from '../../src/faults.ts'
import { MiB } from '../../src/support/content.ts'

const name = 'a store with injected faults, none of them planned,'

async function open() {
  const faults = createFaults()
  const store = injectFaults(createMemoryBlobStore(), faults)
  return {
    store,
    openAgain: async () => store,
    litter: async () => [],
    heldResources: async () => faults.underWay(),
    dispose: async () => {},
  }
}

describeBlobStore(name, open, { putMemory: 160 * MiB })
describeLinkGenerations(name, open)
describeRenaming(name, open)
describeResumableUploads(name, open, { appendMemory: 544 * MiB })
