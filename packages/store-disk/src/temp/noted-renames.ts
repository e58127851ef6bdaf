import { dirname, join, relative } from 'node:path'
import { fileStats } from '../files/blob-file.ts'
import { changeDurably } from '../files/change-durably.ts'
import { crashPoint } from '../files/crash-point.ts'
import type { FileCalls } from '../files/file-calls.ts'
import { isAbsence, isSystemError } from '../files/translate-fs-error.ts'

/** A create-only rename, during which a file has two names. */
export interface NotedRename {
  readonly source: string
  readonly target: string
  /** The number of the file's inode. */
  readonly inode: bigint
}

/** The data directory in which `tempDirectory` is. */
const dataOf = (tempDirectory: string) => dirname(dirname(tempDirectory))

/** The text of a note in `tempDirectory`, with paths below the data directory. Names have no line breaks. */
export function formatRename(
  { source, target, inode }: NotedRename,
  tempDirectory: string,
): string {
  const paths = [source, target].map((path) => relative(dataOf(tempDirectory), path))
  return [inode, ...paths].join('\n')
}

function parseRename(text: string, tempDirectory: string): NotedRename {
  const [inode = '', source = '', target = ''] = text.split('\n')
  const data = dataOf(tempDirectory)
  return { inode: BigInt(inode), source: join(data, source), target: join(data, target) }
}

/** Where the rename of `note` moves the file that it takes away from its earlier name. */
export const awayOf = (note: string) => `${note}.away`

/**
 * Takes the name `path` from the file of number `inode`, which has another one; resolves with whether it did. A file that others have put
 * there meanwhile stays. No system call removes a name only if it leads to a certain file. So the name is moved to `away`, looked at, and
 * given back if need be: only then, `path` is missing for a moment.
 */
export async function leaveName(
  path: string,
  inode: bigint,
  away: string,
  calls: FileCalls,
): Promise<boolean> {
  if ((await fileStats(path, calls))?.ino !== inode) return false
  try {
    await calls.rename(path, away)
  } catch (error) {
    if (isAbsence(error)) return false
    throw error
  }
  crashPoint('first-name-moved-away')
  const isTaken = await giveBackUnless(inode, { path, away }, calls)
  await calls.unlink(away)
  return isTaken
}

/**
 * Gives the file at `away` its name `path` back, unless it is the one of number `inode`, or others have put a newer one there. Resolves
 * with whether it is that file.
 */
async function giveBackUnless(
  inode: bigint,
  { path, away }: { readonly path: string; readonly away: string },
  calls: FileCalls,
): Promise<boolean> {
  const moved = await fileStats(away, calls)
  if (!moved || moved.ino === inode) return moved !== undefined
  await calls.link(away, path).catch((error: unknown) => {
    if (!isSystemError(error, 'EEXIST')) throw error
  })
  return false
}

/**
 * Completes, durably, the rename that `note` with this text describes and whose process has ended. The file keeps its earlier name if it
 * had not got the new one yet, or has lost that since.
 */
export async function completeRename(note: string, text: string, calls: FileCalls): Promise<void> {
  const { source, target, inode } = parseRename(text, dirname(note))
  const away = awayOf(note)
  const complete = async () => {
    await giveBackUnless(inode, { path: source, away }, calls)
    if ((await fileStats(target, calls))?.ino === inode) {
      await leaveName(source, inode, away, calls)
    }
  }
  // An administrator may have removed the customer's directory with all that is in it.
  await changeDurably(dirname(source), complete, calls).catch((error: unknown) => {
    if (!isAbsence(error)) throw error
  })
}
