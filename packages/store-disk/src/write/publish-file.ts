import { dirname } from 'node:path'
import type { BigIntStats } from 'node:fs'
import { nameTaken } from '@holdfast/core'
import type { DurableDirectories } from '../directory/data-directory.ts'
import { changeDurably } from '../files/change-durably.ts'
import { crashPoint } from '../files/crash-point.ts'
import {
  type FileCalls,
  largeSize,
  pooledCalls,
  isSystemError,
  translateFsError,
  isAbsence,
  fileStats,
} from '../files/file-calls.ts'
import type { ReplacementJournal } from '../temp/replacement-journal.ts'
import type { TempDirectory } from '../temp/temp-directory.ts'

export interface Publication {
  readonly calls: FileCalls
  /** Removes the first name of a file that is linked. */
  readonly tempDirectory: Pick<TempDirectory, 'remove'>
  readonly directories: Pick<DurableDirectories, 'within'>
  /** Records a file that may be replaced. */
  readonly journal: Pick<ReplacementJournal, 'replace'>
  /** The path of the content. Its directory is below the root of `directories`, and need not exist. */
  readonly target: string
  /** Called before the target, if there is one, is replaced. */
  readonly beforeReplacing: () => Promise<void>
  /** Called before the file at `path` becomes the target. If it does not, `undo` of the result is called. */
  readonly beforeNaming: (path: string) => Promise<{ readonly undo: () => Promise<void> }>
  /** Whether to fail with `already-exists` instead of replacing the target. */
  readonly createOnly: boolean
  readonly signal: AbortSignal | undefined
}

/**
 * Moves the synced file at `path` to its target atomically, and resolves when that survives a power cut. If only the last
 * sync fails, the content has its name, which a power cut may undo.
 */
export async function publishFile(path: string, publication: Publication): Promise<void> {
  const { calls, directories, target, createOnly, signal } = publication
  if (!createOnly) await translateFsError(publication.beforeReplacing())
  const directory = dirname(target)
  const giveName = async () => {
    signal?.throwIfAborted()
    await changeDurably(directory, () => nameIt(path, publication), calls)
  }
  const { undo } = await translateFsError(publication.beforeNaming(path))
  try {
    await translateFsError(directories.within(directory, giveName))
  } catch (error) {
    await undo()
    throw error
  }
}

/** For a file that needs no step before it is replaced or gets its name. */
export const noPreparation: Pick<Publication, 'beforeReplacing' | 'beforeNaming'> = {
  beforeReplacing: async () => {},
  beforeNaming: async () => ({ undo: async () => {} }),
}

async function nameIt(path: string, publication: Publication): Promise<void> {
  if (!publication.createOnly) {
    const { calls, journal, target } = publication
    await journal.replace(target, () => calls.rename(path, target))
    crashPoint('named')
    return
  }
  await linkAs(path, publication)
  // The content is published, so the temporary name is not needed any more.
  await publication.tempDirectory.remove(path)
  crashPoint('second-name-removed')
}

/** Unlike a rename, a link never replaces an existing file. */
export async function linkAs(
  path: string,
  { calls, target }: Pick<Publication, 'calls' | 'target'>,
): Promise<void> {
  try {
    await calls.link(path, target)
    crashPoint('named')
  } catch (cause) {
    if (!isSystemError(cause, 'EEXIST')) throw cause
    throw nameTaken(cause)
  }
}

/**
 * Removes the file of a blob for good, after `beforeRemoving`; resolves with whether there was one. Its directory stays: removing it would
 * race with an upload into it.
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

/**
 * Both the microseconds between two times of one writer, and the number of writers. A double holds seconds to about a quarter of a
 * microsecond, and systems drop fractions of a microsecond.
 */
const interval = 10

/** If the clock goes back by less than this, in intervals, the times continue from the last one. */
const setBack = 1_000_000 / interval

let last = 0

/**
 * The current time in seconds, unique among the recent ones of this process, and of other processes with another `writer`
 * below ten. The kernel's own time advances in milliseconds. Within one, a file can be replaced twice and get its first
 * inode back, so that two contents would have one entity tag.
 */
export function nextModificationTime(writer: number): number {
  const withinMillisecond = Number((process.hrtime.bigint() / 1000n) % 1000n)
  const now = Math.floor((Date.now() * 1000 + withinMillisecond) / interval)
  last = now < last - setBack ? now : Math.max(now, last + 1)
  return (last * interval + (writer % interval) + 0.5) / 1_000_000
}
