import { FileServiceError } from '@holdfast/core'

const MiB = 1024 * 1024

/** The most that one upload holds in memory: a part that is gathered, and those on their way. */
export const maxPartMemory = 48 * MiB

/** S3's limit. */
const maxParts = 10_000

/** Up to here, parts are of 8 MiB; files of up to 7.8 GiB need no others. */
const smallParts = 1000

/**
 * The size of the part `number`, in bytes. S3 allows 10,000 parts, and all but the last have at least 5 MiB; of 8 MiB
 * they would end at 78 GiB. Later parts are of 24 MiB, of which two fit into memory: a file may have 218 GiB.
 *
 * @throws FileServiceError `file-too-large` beyond the last part
 */
export function partSize(number: number): number {
  if (number > maxParts) {
    throw new FileServiceError('file-too-large', 'The file is larger than one object can be')
  }
  return number <= smallParts ? 8 * MiB : 24 * MiB
}
