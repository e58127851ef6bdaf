export {
  copyFiles,
  EmptySourceError,
  type CopyOptions,
  type CopyResult,
  type CopyFailure,
} from './copy-files.ts'
export type { CopyProgress, FileCount } from './copy-progress.ts'
export { mergeByName, type MergedName } from './walk-files.ts'
