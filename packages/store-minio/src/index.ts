export {
  openMinioBlobStore,
  type MinioBlobStore,
  type MinioBlobStoreOptions,
} from './minio-blob-store.ts'
export { StoreSettingError, type StoreSetting } from './store-setting-error.ts'
