import {
  describeBlobStore,
  describeExpiry,
  describeLinkGenerations,
  describeRenaming,
} from '@holdfast/contract'
import { describeWithMinio } from '@holdfast/testing/minio'
import { openUnreachableHarness } from './faults/open-unreachable-harness.ts'
import { openMinioHarness } from './minio-harness.ts'
import { openFullHarness } from './open-full-harness.ts'

const MiB = 1024 * 1024

describeWithMinio('openMinioBlobStore', function (minio) {
  describeBlobStore('MinIO', () => openMinioHarness(minio()), {
    // Six parts of 8 MiB, where the server is slower than the content, and what is made for them.
    putMemory: 52 * MiB,
    openFull: openFullHarness,
    openUnreachable: () => openUnreachableHarness(minio()),
  })
  describeLinkGenerations('MinIO', () => openMinioHarness(minio()), {
    openUnreachable: () => openUnreachableHarness(minio()),
  })
  describeExpiry('MinIO', () => openMinioHarness(minio()), {
    openUnreachable: () => openUnreachableHarness(minio()),
  })
  describeRenaming('MinIO', () => openMinioHarness(minio()), {
    openUnreachable: () => openUnreachableHarness(minio()),
  })
})
