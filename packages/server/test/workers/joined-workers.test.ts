import { describeService } from '../black-box/describe-service.ts'
import { openDiskStore } from '../black-box/support/open-disk-store.ts'

describeService('the disk store, with two workers', openDiskStore, 2)
