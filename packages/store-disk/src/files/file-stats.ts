import { lstat } from 'node:fs/promises'
import { isAbsence } from './system-error.ts'

/** Nothing but a regular file is a blob; a symbolic link is none, wherever it leads. */
export async function fileStats(path: string) {
  try {
    const stats = await lstat(path, { bigint: true })
    return stats.isFile() ? stats : undefined
  } catch (error) {
    if (isAbsence(error)) return undefined
    throw error
  }
}
