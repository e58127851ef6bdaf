import { isFileServiceError, type CustomerFiles } from '@holdfast/core'

export interface Cleanup {
  /** Files stored before this time are old. */
  readonly before: Date
  /** Whether to say only what would be deleted. */
  readonly isRehearsal: boolean
  /** Called for each file that failed. */
  readonly report: (problem: string) => void
}

export interface Outcome {
  looked: number
  deleted: number
  bytes: number
  failed: number
}

/** How many files are deleted at a time. */
const atOnce = 8

/**
 * Deletes the old files of a customer. A file that fails is reported, and left for the next night.
 *
 * The list says which files are old, without a request for each. An old one may have been replaced since, so each is asked
 * for right before it is deleted. No store can delete a file on the condition that it is still the same: one that is
 * replaced in the very moment between the two requests is deleted in the place of the old one. See the README.
 */
export async function deleteOldFiles(files: CustomerFiles, cleanup: Cleanup): Promise<Outcome> {
  const outcome: Outcome = { looked: 0, deleted: 0, bytes: 0, failed: 0 }
  for await (const page of files.listDetails()) {
    outcome.looked += page.length
    const old = page.filter(({ modifiedAt }) => modifiedAt < cleanup.before).values()
    const work = async () => {
      for (const { name } of old) await deleteIfOld(files, name, cleanup, outcome)
    }
    await Promise.all(Array.from({ length: atOnce }, work))
  }
  return outcome
}

async function deleteIfOld(
  files: CustomerFiles,
  name: string,
  { before, isRehearsal, report }: Cleanup,
  outcome: Outcome,
): Promise<void> {
  try {
    const { modifiedAt, size } = await files.stat(name)
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
