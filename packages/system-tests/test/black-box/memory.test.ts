import { describeService } from './describe-service.ts'
import { openMemoryStore } from './support/open-memory-store.ts'

describeService('the memory store', openMemoryStore, { hasHistory: true })
