import { describeService } from './describe-service.ts'
import { openDiskStore } from './support/open-disk-store.ts'

describeService('the disk store, with two workers', openDiskStore, 2)
