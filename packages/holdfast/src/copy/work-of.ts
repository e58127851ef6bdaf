import type { CopyProgress, FileCount } from '@holdfast/copy'

/** Each file takes as long as this many bytes, in addition to its own. */
const bytesPerFile = 256 * 1024

/**
 * The estimated work for some files, to compare two counts of one stage. The stage that catches up compares files
 * and copies few, so their size hardly counts.
 */
export function workOf({ files, bytes }: FileCount, stage: CopyProgress['stage']): number {
  return stage === 'catching up' ? files : files * bytesPerFile + bytes
}
