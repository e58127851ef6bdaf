import {
  describeBlobStore,
  describeExpiry,
  describeHistory,
  describeLinkGenerations,
  describeRenaming,
  describeResumableUploads,
} from '@holdfast/contract'
import { openDiskHarness } from './disk-harness.ts'
import { fullDiskKind, openFullDisk } from './full-disk.ts'

const openFull = async () => openDiskHarness({}, await openFullDisk())

describe(`openDiskBlobStore (its full disk is ${fullDiskKind})`, function () {
  this.timeout(60_000)
  describeBlobStore('plain names', () => openDiskHarness({ names: 'plain' }), { openFull })
  describeBlobStore('escaped names', () => openDiskHarness({ names: 'escaped' }))
  describeLinkGenerations('plain names', () => openDiskHarness({ names: 'plain' }))
  describeLinkGenerations('escaped names', () => openDiskHarness({ names: 'escaped' }))
  describeExpiry('plain names', () => openDiskHarness({ names: 'plain' }))
  describeExpiry('escaped names', () => openDiskHarness({ names: 'escaped' }))
  describeHistory('plain names', () => openDiskHarness({ names: 'plain' }))
  describeHistory('escaped names', () => openDiskHarness({ names: 'escaped' }))
  describeRenaming('plain names', () => openDiskHarness({ names: 'plain' }))
  describeRenaming('escaped names', () => openDiskHarness({ names: 'escaped' }))
  describeResumableUploads('plain names', () => openDiskHarness({ names: 'plain' }), { openFull })
  describeResumableUploads('escaped names', () => openDiskHarness({ names: 'escaped' }), {
    manyAppends: 100,
  })
})
