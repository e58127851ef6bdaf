import { createMemoryBlobStore } from '@holdfast/core/memory'
import { describeService } from './describe-service.ts'

describeService('the memory store', async () => ({
  store: createMemoryBlobStore(),
  litter: async () => [],
  close: async () => {},
}))
