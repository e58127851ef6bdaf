export {
  openDiskBlobStore,
  type DiskBlobStore,
  type DiskBlobStoreOptions,
} from './disk-blob-store.ts'
export type { NamesMode } from './layout.ts'
export { diskSteps, type DiskStep } from './step.ts'
export type { WarningLog } from './instance.ts'
export { inspectDataDirectory, type InspectionOptions } from './inspect/inspect-data-directory.ts'
