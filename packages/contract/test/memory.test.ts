import { createMemoryBlobStore, createMemoryCredentialSource } from '@holdfast/core/memory'
import { describeBlobStore } from '../src/describe-blob-store.ts'
import { describeCredentialSource } from '../src/describe-credential-source.ts'
import { MiB } from '../src/sources.ts'

describeBlobStore(
  'the memory store',
  async () => {
    const store = createMemoryBlobStore()
    return {
      store,
      openAgain: async () => store,
      litter: async () => [],
      heldResources: async () => 0,
      dispose: async () => {},
    }
  },
  { putMemory: 160 * MiB },
)

describeCredentialSource('the memory credential source', async (credentials) => ({
  source: createMemoryCredentialSource(credentials),
  dispose: async () => {},
}))
