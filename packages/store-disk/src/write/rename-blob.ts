import { dirname } from 'node:path'
import type { BigIntStats } from 'node:fs'
import { createKeyedLock, FileServiceError } from '@holdfast/core'
import type { DurableDirectories } from '../directory/durable-directories.ts'
import { fileStats } from '../files/blob-file.ts'
import { changeDurably } from '../files/change-durably.ts'
import { crashPoint } from '../files/crash-point.ts'
import type { FileCalls } from '../files/file-calls.ts'
import { isAbsence } from '../files/translate-fs-error.ts'
import { awayOf, formatRename, leaveName } from '../temp/noted-renames.ts'
import type { ReplacementJournal } from '../temp/replacement-journal.ts'
import type { TempDirectory } from '../temp/temp-directory.ts'
import { linkAs, nextModificationTime } from './publish-file.ts'

export interface BlobRename {
  readonly calls: FileCalls
  readonly directories: Pick<DurableDirectories, 'within'>
  readonly journal: Pick<ReplacementJournal, 'replace'>
  /** Keeps the note of a create-only rename. */
  readonly tempDirectory: Pick<TempDirectory, 'path' | 'createNote' | 'remove'>
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
}

/**
 * Gives the file at `source` the path `target`, and resolves with its stats when that survives a power cut; with `undefined` if there is
 * no file. `rename(2)` does that in one step, but it would replace a file at the target, and Node.js has no call that refuses to. So
 * `createOnly` links the file to its new name and then takes the earlier one away.
 * `docs/decisions/046-two-ways-to-a-new-name.md` explains what happens if others interfere, or the process ends in between.
 */
export async function renameBlob(rename: BlobRename): Promise<BigIntStats | undefined> {
  const { calls, source, target, createOnly } = rename
  const moving = await fileStats(source, calls)
  if (!moving) return undefined
  const replaced = await fileStats(target, calls)
  if (replaced && createOnly) throw new FileServiceError('already-exists', 'The name is taken')
  await rename.beforeLeaving(moving)
  if (replaced) await rename.beforeReplacing(replaced)
  if (replaced && moving.mtimeNs <= replaced.mtimeNs) {
    await renewTime(rename).catch((error: unknown) => {
      // Others have removed the file: the next step finds that.
      if (!isAbsence(error)) throw error
    })
  }
  if (!createOnly) return makeDurably(rename, () => replace(rename))
  return renameUnlessTaken(rename, moving)
}

/**
 * Gives the file a new time, since that of a name never goes back: a client that has the replaced blob may ask for what has changed
 * since.
 */
async function renewTime({ calls, source, writer }: BlobRename): Promise<void> {
  const file = await calls.open(source, 'r')
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
  change: () => Promise<BigIntStats>,
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

async function replace({ calls, journal, source, target }: BlobRename): Promise<BigIntStats> {
  const moving = await calls.lstat(source)
  const replaced = await fileStats(target, calls)
  // rename(2) does nothing if both are names of one file, as after a create-only rename that failed.
  if (replaced?.ino === moving.ino) await calls.unlink(source)
  else await journal.replace(target, () => calls.rename(source, target))
  crashPoint('named')
  // Others may have replaced the file at the source since, or removed the one at the target.
  return (await fileStats(target, calls)) ?? moving
}

/** One create-only rename of a file at a time: of several, one alone gives its file a name that is seen. */
const lockSource = createKeyedLock()

async function renameUnlessTaken(
  rename: BlobRename,
  moving: BigIntStats,
): Promise<BigIntStats | undefined> {
  const { source, tempDirectory } = rename
  const unlock = await lockSource(source)
  const note = await takeNote(rename, moving).catch(rethrowAfter(unlock))
  const names: Names = { areTwo: false }
  try {
    return await makeDurably(rename, () => linkAndLeave(rename, note, names))
  } finally {
    if (!names.areTwo) await tempDirectory.remove(note)
    unlock()
  }
}

interface Names {
  /** Whether the file may have two names now. */
  areTwo: boolean
}

function rethrowAfter(undo: () => void): (error: unknown) => never {
  return (error) => {
    undo()
    throw error
  }
}

/** Notes durably which file is about to have two names; resolves with the path of the note. */
function takeNote(
  { calls, source, target, tempDirectory }: BlobRename,
  { ino: inode }: BigIntStats,
): Promise<string> {
  const { path, createNote } = tempDirectory
  const text = formatRename({ source, target, inode }, path)
  const noting = async () => {
    const note = await createNote(text, 'rename')
    crashPoint('rename-noted')
    return note
  }
  return changeDurably(path, noting, calls)
}

/**
 * Links the file to its new name, and takes its earlier one away. If others have renamed, removed or replaced it meanwhile, it takes the
 * new name back and begins again: the file at the source is another one now, or there is none (ENOENT).
 */
async function linkAndLeave(rename: BlobRename, note: string, names: Names): Promise<BigIntStats> {
  const { calls, journal, source, target } = rename
  const away = awayOf(note)
  for (;;) {
    const moving = await calls.lstat(source)
    const linking = journal.replace(target, () => linkAs(source, { calls, target }))
    await linking.then(() => (names.areTwo = true))
    const [left, entered] = [await fileStats(source, calls), await fileStats(target, calls)]
    // Others may have replaced the file at the source just before it was linked.
    const linked = left && left.ino === entered?.ino ? left : moving
    const isLeft = await leaveName(source, linked.ino, away, calls)
    if (!isLeft) await leaveName(target, linked.ino, away, calls)
    names.areTwo = false
    crashPoint('second-name-removed')
    if (isLeft) return linked
  }
}
