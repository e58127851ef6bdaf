import { describeBlobStore } from '@holdfast/contract'
import { describeWithMinio } from '@holdfast/minio-container'
import { openUnreachableHarness } from './faults/open-unreachable-harness.ts'
import { openMinioHarness } from './minio-harness.ts'
import { openFullHarness } from './open-full-harness.ts'

const MiB = 1024 * 1024

describeWithMinio('openMinioBlobStore', function (minio) {
  describeBlobStore('MinIO', () => openMinioHarness(minio()), {
    putMemory: 48 * MiB,
    openFull: openFullHarness,
    openUnreachable: () => openUnreachableHarness(minio()),
  })
})
