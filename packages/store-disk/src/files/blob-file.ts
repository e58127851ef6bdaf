import { constants, type BigIntStats } from 'node:fs'
import { lstat } from 'node:fs/promises'
import type { BlobInfo } from '@holdfast/core'
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

/**
 * What the port tells of a blob called `name` whose file has these `stats`. The entity tag is inode, size and time of
 * modification in nanoseconds, each in base 36: a replaced blob has another time, a file changed by hand too, and
 * nothing has to be kept beside the file. A restored backup has other inodes, so its files have other tags.
 */
export function blobInfo(name: string, stats: BigIntStats): BlobInfo {
  const etag = [stats.ino, stats.size, stats.mtimeNs].map((part) => part.toString(36)).join('-')
  return { name, size: Number(stats.size), modifiedAt: stats.mtime, etag }
}

/**
 * How a blob's file is opened. Symbolic links are not followed, and without O_NONBLOCK opening a named pipe would wait
 * for a writer for ever.
 */
export const readFlags =
  constants.O_RDONLY | (constants.O_NOFOLLOW || 0) | (constants.O_NONBLOCK || 0)
