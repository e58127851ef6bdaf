import { rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { changeDurably } from '../files/change-durably.ts'
import { crashPoint } from '../files/crash-point.ts'
import { isAbsence } from '../files/translate-fs-error.ts'
import type { UploadSite } from './upload-site.ts'

type RemovalSite = Pick<UploadSite, 'calls' | 'tempDirectory'>

/**
 * Removes the directory of an upload durably, in one step; resolves with whether there was one. A process that writes the content loses it
 * at that moment. The entries of the directory are removed afterwards, by the next start if need be.
 */
export function removeUpload(site: RemovalSite, directory: string): Promise<boolean> {
  return moveAway(site, directory, async (move) => {
    await changeDurably(dirname(directory), move, site.calls)
    crashPoint('upload-removal-synced')
  })
}

/** Removes an upload without a sync: after a power cut it may be there again. */
export function forgetUpload(site: RemovalSite, directory: string): Promise<boolean> {
  return moveAway(site, directory, (move) => move())
}

async function moveAway(
  { calls, tempDirectory }: RemovalSite,
  directory: string,
  change: (move: () => Promise<void>) => Promise<void>,
): Promise<boolean> {
  const trash = await tempDirectory.createTemporaryDirectory()
  try {
    await change(async () => {
      await calls.rename(directory, join(trash, 'upload'))
      crashPoint('upload-moved-away')
    })
    return true
  } catch (error) {
    if (isAbsence(error)) return false
    throw error
  } finally {
    await rm(trash, { recursive: true, force: true }).catch(() => {})
  }
}
