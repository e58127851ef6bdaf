export {
  openDiskBlobStore,
  type DiskBlobStore,
  type DiskBlobStoreOptions,
} from './disk-blob-store.ts'
export type { NamesMode } from './directory/layout.ts'
export {
  diskCrashPoints,
  diskHistoryCrashPoints,
  diskUploadCrashPoints,
  type DiskCrashPoint,
} from './files/crash-point.ts'
export type { WarningLog } from './temp/temp-directory.ts'
export { inspectDataDirectory, type InspectionOptions } from './inspect/inspect-data-directory.ts'
