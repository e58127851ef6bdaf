import type { BigIntStats } from 'node:fs'
import type { BlobInfo } from '@holdfast/core'

/**
 * What the port tells of a blob called `name` whose file has these `stats`. The entity tag is inode, size and time of
 * modification in nanoseconds, each in base 36: a replaced blob has another time, a file changed by hand too, and
 * nothing has to be kept beside the file. A restored backup has other inodes, so its files have other tags.
 */
export function blobInfo(name: string, stats: BigIntStats): BlobInfo {
  const etag = [stats.ino, stats.size, stats.mtimeNs].map((part) => part.toString(36)).join('-')
  return { name, size: Number(stats.size), modifiedAt: stats.mtime, etag }
}
