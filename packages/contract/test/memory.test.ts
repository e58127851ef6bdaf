import {
  createMemoryBlobStore,
  createMemoryCredentialSource,
  createMemoryFailureCounter,
} from '@holdfast/core/memory'
import { describeBlobStore } from '../src/describe-blob-store.ts'
import { describeCredentialSource } from '../src/describe-credential-source.ts'
import { describeFailureCounter } from '../src/describe-failure-counter.ts'
import { MiB } from '../src/support/sources.ts'

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

describeFailureCounter('the memory failure counter', async (windowMs) => {
  let time = 0
  return {
    counter: createMemoryFailureCounter({ windowMs, now: () => time }),
    pass: async (milliseconds) => void (time += milliseconds),
    dispose: async () => {},
  }
})
