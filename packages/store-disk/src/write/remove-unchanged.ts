import { dirname } from 'node:path'
import type { BigIntStats } from 'node:fs'
import { changeDurably } from '../files/change-durably.ts'
import { crashPoint } from '../files/crash-point.ts'
import {
  blobInfo,
  readFlags,
  type FileCalls,
  isAbsence,
  undefinedIfAbsent,
} from '../files/file-calls.ts'
import { leaveName } from '../temp/rename-notes.ts'
import type { TempDirectory } from '../temp/temp-directory.ts'

export interface UnchangedRemoval {
  readonly calls: FileCalls
  readonly tempDirectory: Pick<TempDirectory, 'renames'>
  /** The data directory. */
  readonly root: string
  /** The path of the blob. */
  readonly path: string
  /** The entity tag that its file must have. */
  readonly etag: string
  /** Called before the file is removed. */
  readonly beforeRemoving: (stats: BigIntStats) => Promise<void>
}

/**
 * Removes the file of a blob for good if it has the entity tag; resolves with whether it did. No system call removes a name only if it
 * leads to a certain file. So the name is moved away, looked at, and given back if others have put another file there meanwhile: only
 * then, it is missing for a moment. A note lets the next process give it back after a crash.
 */
export async function removeUnchanged(removal: UnchangedRemoval): Promise<boolean> {
  const { calls, tempDirectory, root, path, etag } = removal
  const file = await calls.open(path, readFlags).catch(undefinedIfAbsent)
  if (file === undefined) return false
  try {
    // While the file is open, no other file gets its inode.
    const stats = await calls.stat(file)
    if (!stats.isFile() || blobInfo('', stats).etag !== etag) return false
    await removal.beforeRemoving(stats)
    // The note names the data directory as the second name, which no file has: after a crash nothing is removed.
    const noted = { source: path, target: root, inode: stats.ino }
    const isRemoved = await tempDirectory.renames.during(noted, (away) =>
      changeDurably(dirname(path), () => leaveName(path, stats.ino, away, calls), calls),
    )
    crashPoint('removal-synced')
    return isRemoved
  } catch (error) {
    if (isAbsence(error)) return false
    throw error
  } finally {
    await calls.close(file)
  }
}
