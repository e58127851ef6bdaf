import type { BlobStoreHarness } from '@holdfast/contract'
import type { RunningMinio } from '@holdfast/testing/minio'
import { openMinioHarness, type openVersionedHarness } from '../minio-harness.ts'
import { startFaultProxy } from './fault-proxy.ts'

/** A store that was opened while its server was there, and has lost it since. */
export async function openUnreachableHarness(
  minio: RunningMinio,
  openHarness: typeof openVersionedHarness = openMinioHarness,
): Promise<BlobStoreHarness> {
  const proxy = await startFaultProxy(minio.endpoint)
  const harness = await openHarness(minio, { endpoint: proxy.endpoint })
  await proxy.close()
  return harness
}
