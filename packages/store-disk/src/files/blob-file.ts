import { constants, type BigIntStats } from 'node:fs'
import type { BlobInfo } from '@holdfast/core'
import type { FileCalls } from './file-calls.ts'
import { isAbsence } from './translate-fs-error.ts'

/** The stats of the regular file at `path`; `undefined` if there is none. A symbolic link is no blob. */
export async function fileStats(path: string, calls: Pick<FileCalls, 'lstat'>) {
  try {
    const stats = await calls.lstat(path)
    return stats.isFile() ? stats : undefined
  } catch (error) {
    if (isAbsence(error)) return undefined
    throw error
  }
}

/**
 * The port's description of the blob `name` whose file has these `stats`. The entity tag is inode, size and modification time in
 * nanoseconds, each in base 36. Each replacement and each edit by hand changes the time, so no record beside the file is needed. A
 * restored backup has new inodes, so its files get new tags.
 */
export function blobInfo(name: string, stats: BigIntStats): BlobInfo {
  const etag = [stats.ino, stats.size, stats.mtimeNs].map((part) => part.toString(36)).join('-')
  return { name, size: Number(stats.size), modifiedAt: stats.mtime, etag }
}

/** Open a blob's file without following symbolic links. O_NONBLOCK keeps a named pipe from blocking until a writer opens it. */
export const readFlags =
  constants.O_RDONLY | (constants.O_NOFOLLOW || 0) | (constants.O_NONBLOCK || 0)
