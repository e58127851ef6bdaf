import { rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { changeDurably } from '../files/change-durably.ts'
import { crashPoint } from '../files/crash-point.ts'
import { isAbsence } from '../files/system-error.ts'
import type { UploadSite } from './upload-site.ts'

/**
 * Removes the directory of an upload durably, in one step; whether there was one. A process that writes the content has lost it
 * by then. What the directory holds is removed afterwards, by the next start if need be.
 */
export async function removeUpload(
  { calls, tempDirectory }: Pick<UploadSite, 'calls' | 'tempDirectory'>,
  directory: string,
): Promise<boolean> {
  const trash = await tempDirectory.createTemporaryDirectory()
  const move = async () => {
    await calls.rename(directory, join(trash, 'upload'))
    crashPoint('upload-moved-away')
  }
  try {
    await changeDurably(dirname(directory), move, calls)
    crashPoint('upload-removal-synced')
    return true
  } catch (error) {
    if (isAbsence(error)) return false
    throw error
  } finally {
    await rm(trash, { recursive: true, force: true }).catch(() => {})
  }
}
