export {
  openMinioBlobStore,
  type MinioBlobStore,
  type MinioBlobStoreOptions,
} from './minio-blob-store.ts'
export type { Companions, HoldKey } from './write/removals.ts'
export { StoreSettingError, type StoreSetting } from './http/s3-errors.ts'
export { inspectBucket, type BucketInspectionOptions } from './inspect/inspect-bucket.ts'
