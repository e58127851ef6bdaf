import { ListObjectsV2Command, ListObjectVersionsCommand } from '@aws-sdk/client-s3'
import type { BlobStoreHarness } from '@holdfast/contract'
import type { RunningMinio } from '@holdfast/testing/minio'
import { openServerKnown } from './open-server-known.ts'
import type { MinioBlobStoreOptions } from '../src/minio-blob-store.ts'

/** A server that tests have for themselves: MinIO or another one. */
type Server = Pick<
  RunningMinio,
  | 'endpoint'
  | 'accessKey'
  | 'secretKey'
  | 'region'
  | 'client'
  | 'createBucket'
  | 'unfinishedUploads'
>

/** A store in a new bucket of `minio` that keeps versions. Versions of holdfast's own objects are litter. */
export async function openVersionedHarness(
  minio: Server & Pick<RunningMinio, 'createVersionedBucket'>,
  options: Partial<MinioBlobStoreOptions> = {},
): Promise<BlobStoreHarness> {
  const bucket = await minio.createVersionedBucket()
  const harness = await openMinioHarness(minio, { ...options, bucket })
  return {
    ...harness,
    litter: async () => {
      const own = new ListObjectVersionsCommand({ Bucket: bucket, Prefix: '\u007f' })
      const { Versions: versions = [], DeleteMarkers: markers = [] } = await minio.client.send(own)
      const trials = new ListObjectVersionsCommand({ Bucket: bucket, Prefix: '.holdfast-trial-' })
      const left = await minio.client.send(trials)
      return [
        ...(await harness.litter()),
        ...versions.filter(({ IsLatest }) => IsLatest !== true),
        ...[...markers, ...(left.Versions ?? []), ...(left.DeleteMarkers ?? [])],
      ].map((each) => (typeof each === 'string' ? each : `${each.Key} ${each.VersionId}`))
    },
  }
}

/** A store in a bucket of `minio`, by default a new one. */
export async function openMinioHarness(
  minio: Server,
  options: Partial<MinioBlobStoreOptions> = {},
): Promise<BlobStoreHarness> {
  const { bucket = await minio.createBucket() } = options
  const { endpoint, accessKey, secretKey, region } = minio
  const open = () => openServerKnown({ endpoint, accessKey, secretKey, region, ...options, bucket })
  const stores = [await open()]
  return {
    store: stores[0]!,
    openAgain: async () => {
      const another = await open()
      stores.push(another)
      return another
    },
    litter: async () => {
      const command = new ListObjectsV2Command({ Bucket: bucket, Prefix: '\u007fuploads/' })
      const { Contents: objects = [] } = await minio.client.send(command)
      return [...(await minio.unfinishedUploads(bucket)), ...objects.map(({ Key = '' }) => Key)]
    },
    heldResources: async () => {
      const busy = () => stores.reduce((sum, store) => sum + store.busyConnections(), 0)
      // A connection that was cut is gone with the next turns of the event loop, the sweep at the start soon.
      for (let patience = 250; patience > 0; patience--) {
        await new Promise((resolve) => setTimeout(resolve, 20))
        if (busy() === 0) break
      }
      return busy()
    },
    dispose: async () => {
      await Promise.all(stores.map((store) => store.close()))
    },
  }
}
