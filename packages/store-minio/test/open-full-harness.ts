import type { BlobStoreHarness } from '@holdfast/contract'
import { startMinio } from '@holdfast/testing/minio'
import { openMinioHarness } from './minio-harness.ts'

/**
 * A store on a MinIO of its own whose drive has no room for a single part. With room for some, MinIO answers the others
 * in more ways than one, and frees what it holds of them only after a while.
 */
export async function openFullHarness(): Promise<BlobStoreHarness> {
  const minio = await startMinio({ driveMiB: 8 })
  const harness = await openMinioHarness(minio)
  return {
    ...harness,
    dispose: async () => {
      await harness.dispose()
      await minio.stop()
    },
  }
}
