import type { BigIntStats } from 'node:fs'
import { dirname } from 'node:path'
import { fileStats } from '../files/blob-file.ts'
import { changeDurably } from '../files/change-durably.ts'
import { crashPoint } from '../files/crash-point.ts'
import { largeSize, pooledCalls, type FileCalls } from '../files/file-calls.ts'
import { isAbsence } from '../files/system-error.ts'

/**
 * Removes the file of a blob for good, after `beforeRemoving`; whether there was one. Its directory stays: removing that would race with an
 * upload into it.
 */
export async function removeFile(
  path: string,
  calls: FileCalls,
  beforeRemoving: (stats: BigIntStats) => Promise<void>,
): Promise<boolean> {
  const stats = await fileStats(path, calls)
  if (!stats) return false
  await beforeRemoving(stats)
  const unlinking = stats.size > largeSize ? pooledCalls : calls
  const remove = async () => {
    await unlinking.unlink(path)
    crashPoint('name-removed')
  }
  try {
    await changeDurably(dirname(path), remove, calls)
    crashPoint('removal-synced')
    return true
  } catch (error) {
    if (isAbsence(error)) return false
    throw error
  }
}
