export {
  copyFiles,
  EmptySourceError,
  type CopyOptions,
  type CopyResult,
  type CopyFailure,
} from './copy-files.ts'
export type { CopyProgress, FileCount } from './copy-progress.ts'
export { mergeSorted, type Merged } from './walk-files.ts'
