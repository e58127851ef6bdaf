import { describeService } from './describe-service.ts'
import { openDiskStore } from './support/open-disk-store.ts'

describeService('the disk store', openDiskStore, { hasHistory: true })
