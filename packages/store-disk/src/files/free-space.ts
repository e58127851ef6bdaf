import { statfs } from 'node:fs/promises'
import { translateFsError } from './translate-fs-error.ts'

/** How many bytes more the file system of `directory` takes from processes without privileges. */
export async function freeSpaceOf(directory: string): Promise<number> {
  const { bavail, bsize } = await translateFsError(statfs(directory))
  return bavail * bsize
}
