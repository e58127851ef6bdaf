import { isFileServiceError, type CustomerFiles } from '@holdfast/core'

export interface Cleanup {
  /** Files stored before this time are old. */
  readonly before: Date
  /** Whether to say only what would be deleted. */
  readonly isRehearsal: boolean
  /** Told of each file that failed. */
  readonly report: (problem: string) => void
}

export interface Outcome {
  looked: number
  deleted: number
  bytes: number
  failed: number
}

/** How many files are looked at or deleted at a time. */
const atOnce = 8

/**
 * Deletes the old files of a customer. A file that fails is reported, and left for the next night.
 *
 * What a file is stands in the store, not in the list, so each is asked for right before it is deleted. No store can
 * delete a file on the condition that it is still the same: one that is replaced in the very moment between the two
 * requests is deleted in the place of the old one. See the README.
 */
export async function deleteOldFiles(files: CustomerFiles, cleanup: Cleanup): Promise<Outcome> {
  const outcome: Outcome = { looked: 0, deleted: 0, bytes: 0, failed: 0 }
  const names = files.list()[Symbol.asyncIterator]()
  const work = async () => {
    for (let next = await names.next(); !next.done; next = await names.next()) {
      await consider(files, next.value, cleanup, outcome)
    }
  }
  await Promise.all(Array.from({ length: atOnce }, work))
  return outcome
}

async function consider(
  files: CustomerFiles,
  name: string,
  { before, isRehearsal, report }: Cleanup,
  outcome: Outcome,
): Promise<void> {
  try {
    const { modifiedAt, size } = await files.stat(name)
    outcome.looked++
    if (modifiedAt >= before) return
    if (!isRehearsal) await files.delete(name)
    outcome.deleted++
    outcome.bytes += size
  } catch (error) {
    // Another client has deleted it already.
    if (isFileServiceError(error, 'not-found')) return
    // Nor will the next one be found.
    if (isFileServiceError(error, 'store-unavailable')) throw error
    outcome.failed++
    report(`${files.customer.name}/${name}: ${String(error)}`)
  }
}
