export { copyFiles, EmptySourceError, type CopyOptions, type CopyResult } from './copy-files.ts'
export type { CopyProgress, FileCount } from './copy-progress.ts'
export type { CopyFailure } from './failure-list.ts'
export { mergeSorted, type Merged } from './merge-sorted.ts'
