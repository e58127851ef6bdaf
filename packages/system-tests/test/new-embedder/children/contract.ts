import { describeBlobStore } from '@holdfast/contract'
import { createThriftyBlobStore } from './thrifty-blob-store.ts'

async function open() {
  const store = createThriftyBlobStore()
  return {
    store,
    openAgain: async () => store,
    litter: async () => [],
    heldResources: async () => 0,
    dispose: async () => {},
  }
}

describeBlobStore('A thrifty store', open, { putMemory: 160 * 2 ** 20 })
