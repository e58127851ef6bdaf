export {
  openMinioBlobStore,
  type MinioBlobStore,
  type MinioBlobStoreOptions,
} from './minio-blob-store.ts'
export { StoreSettingError, type StoreSetting } from './errors/store-setting-error.ts'
export { inspectBucket, type BucketInspectionOptions } from './inspect/inspect-bucket.ts'
