import {
  describeBlobStore,
  describeExpiry,
  describeHistory,
  describeLinkGenerations,
  describeRenaming,
  describeResumableUploads,
} from '@holdfast/contract'
import { describeWithMinio } from '@holdfast/testing/minio'
import { openUnreachableHarness } from './faults/open-unreachable-harness.ts'
import { openVersionedHarness } from './minio-harness.ts'

const MiB = 1024 * 1024

describeWithMinio('openMinioBlobStore, in a bucket that keeps versions', function (minio) {
  const name = 'MinIO with versions'
  const open = () => openVersionedHarness(minio())
  const openUnreachable = () => openUnreachableHarness(minio(), openVersionedHarness)
  describeHistory(name, open, {
    openUnreachable,
    // Two requests each; history/many-versions.long.test.ts has more than 1,000.
    manyVersions: 60,
    // By the clock of this machine, in milliseconds.
    clockToleranceMs: 500,
  })
  describeBlobStore(name, open, { putMemory: 52 * MiB, openUnreachable })
  describeExpiry(name, open, { openUnreachable })
  describeLinkGenerations(name, open, { openUnreachable })
  describeRenaming(name, open, { openUnreachable })
  describeResumableUploads(name, open, {
    manyAppends: 20,
    appendMemory: 52 * MiB,
    openUnreachable,
  })
})
