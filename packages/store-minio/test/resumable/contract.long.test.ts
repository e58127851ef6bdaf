import { describeResumableUploads } from '@holdfast/contract'
import { describeWithMinio } from '@holdfast/testing/minio'
import { openUnreachableHarness } from '../faults/open-unreachable-harness.ts'
import { openMinioHarness } from '../minio-harness.ts'
import { openFullHarness } from '../open-full-harness.ts'

const MiB = 1024 * 1024

describeWithMinio('openMinioBlobStore, for uploads in pieces', function (minio) {
  describeResumableUploads('MinIO', () => openMinioHarness(minio()), {
    // Each is some requests.
    manyAppends: 20,
    // As for a put: six parts of 8 MiB, where the server is slower than the content, and what is made for them.
    appendMemory: 52 * MiB,
    openFull: openFullHarness,
    openUnreachable: () => openUnreachableHarness(minio()),
  })
})
