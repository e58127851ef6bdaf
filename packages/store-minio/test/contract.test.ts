import { describeBlobStore } from '@holdfast/contract'
import { describeWithMinio } from '@holdfast/minio-container'
import { openMinioHarness } from './minio-harness.ts'

const MiB = 1024 * 1024

describeWithMinio('openMinioBlobStore', function (minio) {
  describeBlobStore('MinIO', () => openMinioHarness(minio()), { putMemory: 48 * MiB })
})
