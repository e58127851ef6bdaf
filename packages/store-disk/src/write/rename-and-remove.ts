import { dirname } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { BigIntStats } from 'node:fs'
import { nameTaken } from '@holdfast/core'
import type { DurableDirectories } from '../directory/data-directory.ts'
import { changeDurably } from '../files/change-durably.ts'
import { crashPoint } from '../files/crash-point.ts'
import {
  fileStats,
  type FileCalls,
  isAbsence,
  undefinedIfAbsent,
  blobInfo,
  readFlags,
} from '../files/file-calls.ts'
import { leaveName } from '../temp/rename-notes.ts'
import type { ReplacementJournal } from '../temp/replacement-journal.ts'
import type { TempDirectory } from '../temp/temp-directory.ts'
import { linkAs, nextModificationTime, type Publication } from './publish-file.ts'

export interface BlobRename {
  readonly calls: FileCalls
  readonly directories: Pick<DurableDirectories, 'within'>
  readonly journal: Pick<ReplacementJournal, 'replace'>
  readonly tempDirectory: Pick<TempDirectory, 'renames'>
  /** The number of this process among those that share the directory. */
  readonly writer: number
  /** The present path of the blob. */
  readonly source: string
  /** Its new path, which is another one. */
  readonly target: string
  /** Whether to fail with `already-exists` instead of replacing the target. */
  readonly createOnly: boolean
  /** Called before the file leaves its name. */
  readonly beforeLeaving: (stats: BigIntStats) => Promise<void>
  /** Called before the file at the target is replaced. */
  readonly beforeReplacing: (stats: BigIntStats) => Promise<void>
  /** Whether the file has further names that follow it to its new name. */
  readonly followsToNewName: boolean
  /** Whether a version is kept of the new name that is newer than a file with these stats. */
  readonly isNewerKept: (stats: BigIntStats) => Promise<boolean>
  /** Called before the file at `path` gets its new name. If it does not, `undo` of the result is called. */
  readonly beforeNaming: Publication['beforeNaming']
  /** Called with the stats of before the rename after the file has left its name. */
  readonly afterLeaving: (stats: BigIntStats) => Promise<void>
}

/**
 * Gives the file at `source` the path `target`, and resolves with its stats when that survives a power cut; with `undefined` if there is
 * no file. `rename(2)` does that in one step, but it would replace a file at the target, and Node.js has no call that refuses to. So
 * `createOnly` links the file to its new name and then takes the earlier one away.
 * `docs/decisions/046-two-ways-to-a-new-name.md` explains what happens if others interfere, or the process ends in between.
 */
export async function renameBlob(rename: BlobRename): Promise<BigIntStats | undefined> {
  const { calls, source, target, createOnly } = rename
  for (;;) {
    const moving = await fileStats(source, calls)
    if (!moving) return undefined
    const replaced = await fileStats(target, calls)
    if (replaced && createOnly) throw nameTaken()
    await rename.beforeLeaving(moving)
    if (replaced) await rename.beforeReplacing(replaced)
    const isOlder = replaced ? moving.mtimeNs <= replaced.mtimeNs : await rename.isNewerKept(moving)
    if (isOlder) await renewTime(rename)
    const renamed = await give(rename, moving)
    if (renamed) return renamed
  }
}

/** Gives the file `moving` its new name; resolves with `undefined` if it is at the source no more. */
async function give(rename: BlobRename, moving: BigIntStats): Promise<BigIntStats | undefined> {
  const { source, target, createOnly, tempDirectory } = rename
  const { renames } = tempDirectory
  // A file with several names may be one that another process is renaming.
  if (!createOnly && !rename.followsToNewName && moving.nlink === 1n) {
    return renames.alone(moving.ino, () => follow(rename, moving, replace))
  }
  const change = createOnly ? linkAndLeave : replaceLinked
  return renames.during({ source, target, inode: moving.ino }, (away) =>
    follow(rename, moving, (...file) => change(...file, away)),
  )
}

/** Runs `change` for the file `moving`, whose further names follow it to its new name. */
async function follow(
  rename: BlobRename,
  moving: BigIntStats,
  change: (rename: BlobRename, moving: BigIntStats) => Promise<BigIntStats | undefined>,
): Promise<BigIntStats | undefined> {
  const { calls, source } = rename
  const naming = await rename.beforeNaming(source).catch(undefinedIfAbsent)
  const ready = await fileStats(source, calls)
  let renamed: BigIntStats | undefined
  try {
    if (naming && ready?.ino === moving.ino) {
      renamed = await makeDurably(rename, () => change(rename, ready))
    }
  } finally {
    if (renamed) await rename.afterLeaving(moving)
    else await naming?.undo()
  }
  return renamed
}

/**
 * Gives the file a new time, since that of a name never goes back: a client that has the replaced blob may ask for what has changed
 * since, and the newest version that is kept is the last one.
 */
async function renewTime({ calls, source, writer }: BlobRename): Promise<void> {
  const file = await calls.open(source, 'r').catch(undefinedIfAbsent)
  // Others have removed the file: the next step finds that.
  if (file === undefined) return
  try {
    await calls.setTimes(file, nextModificationTime(writer))
    await calls.sync(file)
  } finally {
    await calls.close(file)
  }
}

/** Runs `change`, which renames the file, and resolves when that is durable; with `undefined` if it finds no file. */
async function makeDurably(
  { calls, directories, source, target }: BlobRename,
  change: () => Promise<BigIntStats | undefined>,
): Promise<BigIntStats | undefined> {
  const [left, entered] = [dirname(source), dirname(target)]
  let renamed: BigIntStats | undefined
  try {
    await directories.within(entered, async () => {
      renamed = await changeDurably(entered, change, calls)
    })
  } catch (error) {
    if (!isAbsence(error)) throw error
    return undefined
  }
  if (left !== entered) await changeDurably(left, async () => {}, calls)
  crashPoint('name-synced')
  return renamed
}

async function replace(
  { calls, journal, source, target }: BlobRename,
  { ino, nlink }: BigIntStats,
): Promise<BigIntStats | undefined> {
  const moving = await calls.lstat(source)
  // Others may have linked it to the target meanwhile: for two names of one file, rename(2) does nothing.
  if (moving.ino !== ino || moving.nlink > nlink) return undefined
  await journal.replace(target, () => calls.rename(source, target))
  crashPoint('named')
  // Others may have replaced the file at the source, or removed the one at the target.
  return (await fileStats(target, calls)) ?? moving
}

/** Replaces the target, which may be another name of the same file: then rename(2) would do nothing. */
async function replaceLinked(
  rename: BlobRename,
  moving: BigIntStats,
): Promise<BigIntStats | undefined> {
  const { calls, source, target } = rename
  const [left, entered] = [await calls.lstat(source), await fileStats(target, calls)]
  if (left.ino !== moving.ino) return undefined
  if (left.ino !== entered?.ino) return replace(rename, moving)
  await calls.unlink(source)
  return entered
}

/**
 * Links the file to its new name, and takes its earlier one away. What others put there meanwhile stays, and a file that they delete there
 * keeps the new name. If they rename it meanwhile, takes the new name back, and resolves with `undefined`.
 */
async function linkAndLeave(
  { calls, journal, source, target }: BlobRename,
  { ino }: BigIntStats,
  away: string,
): Promise<BigIntStats | undefined> {
  const moving = await calls.lstat(source)
  if (moving.ino !== ino) return undefined
  await journal.replace(target, () => linkAs(source, { calls, target }))
  const linked = await fileStats(target, calls)
  for (let look = 0; ; look++) {
    const isLeft = await leaveName(source, ino, away, calls)
    crashPoint('second-name-removed')
    const now = isLeft ? undefined : await fileStats(target, calls)
    // The file has one name too many. Others gave it another name; or they put another file at `source` right before the link, and `source`
    // is still that file's name.
    const isElsewhere = now !== undefined && now.ino === linked?.ino && now.nlink > moving.nlink
    if (!isElsewhere) return moving
    const there = await fileStats(source, calls)
    if (look === mostLooks || (there && there.ino !== ino)) {
      await leaveName(target, now.ino, away, calls)
      return undefined
    }
    // Another rename may have moved the name away for a moment, to look at the file, and gives it back.
    await delay(lookPauseMs)
  }
}

/** How often, and after how many milliseconds, a name is looked for again that is missing while its file has one name too many. */
const mostLooks = 10
const lookPauseMs = 5

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
