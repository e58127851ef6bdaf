import { describeBlobStore } from '@holdfast/contract'
import { openDiskHarness } from '../../../../store-disk/test/disk-harness.ts'
import '../../../../contract/test/memory.test.ts'

// A full disk would want root, and has nothing to do with what runs the store.
describeBlobStore('the disk store', () => openDiskHarness())
