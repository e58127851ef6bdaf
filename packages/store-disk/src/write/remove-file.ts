import { unlink } from 'node:fs/promises'
import { dirname } from 'node:path'
import { fileStats } from '../files/blob-file.ts'
import { changeDurably } from '../files/change-durably.ts'
import { crashPoint } from '../files/crash-point.ts'
import { isAbsence } from '../files/system-error.ts'

/**
 * Removes the file of a blob for good; whether there was one. Its directory stays: removing that would race with an
 * upload into it.
 */
export async function removeFile(path: string): Promise<boolean> {
  if (!(await fileStats(path))) return false
  try {
    await changeDurably(dirname(path), async () => {
      await unlink(path)
      crashPoint('name-removed')
    })
    crashPoint('removal-synced')
    return true
  } catch (error) {
    if (isAbsence(error)) return false
    throw error
  }
}
