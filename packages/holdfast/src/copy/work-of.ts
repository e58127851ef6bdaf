import type { CopyProgress, FileCount } from '@holdfast/copy'

/** A file takes about as long as so many bytes, beside those that are in it. */
const bytesPerFile = 256 * 1024

/**
 * A measure of the time that files take, for comparing one count of a stage with another. Catching up is looking at
 * files, whatever their size, and little else.
 */
export function workOf({ files, bytes }: FileCount, stage: CopyProgress['stage']): number {
  return stage === 'catching up' ? files : files * bytesPerFile + bytes
}
