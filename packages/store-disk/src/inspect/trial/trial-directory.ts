import { randomBytes } from 'node:crypto'
import { rm, rmdir } from 'node:fs/promises'
import { join } from 'node:path'
import { makeDirectories } from '../../files/make-directories.ts'
import { isAbsence, isSystemError } from '../../files/system-error.ts'
import { identifyProcess } from '../../temp/process-identity.ts'
import { tempDirectoryName } from '../../temp/temp-owner.ts'

/** A directory to try things in, where a store keeps temporary files. */
export interface TrialDirectory {
  readonly path: string
  /** Removes it, and the directories that were made above it unless they are in use. */
  remove(): Promise<void>
}

/**
 * Makes a directory of this process in the `tmp` of the data directory `data`, which need not be there. Whatever a killed
 * process leaves of it the next store to start removes, as it does with uploads that broke off.
 */
export async function makeTrialDirectory(data: string): Promise<TrialDirectory> {
  const unique = randomBytes(6).toString('hex')
  const path = join(data, 'tmp', tempDirectoryName(identifyProcess(), unique))
  const made = await makeDirectories(path)
  return {
    path,
    async remove() {
      await rm(path, { recursive: true, force: true })
      for (const directory of made.toReversed()) await removeIfEmpty(directory)
    },
  }
}

async function removeIfEmpty(directory: string): Promise<void> {
  try {
    await rmdir(directory)
  } catch (error) {
    if (!isAbsence(error) && !isSystemError(error, 'ENOTEMPTY', 'EEXIST')) throw error
  }
}
