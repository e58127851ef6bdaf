import { readdir } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { createKeyedLock, FileServiceError } from '@holdfast/core'
import { changeDurably } from '../files/change-durably.ts'
import { crashPoint } from '../files/crash-point.ts'
import {
  fileStats,
  type FileCalls,
  isAbsence,
  isSystemError,
  undefinedIfAbsent,
} from '../files/file-calls.ts'
import { findNotes, type NoteKind } from './notes.ts'
import { findTempOwner } from './temp-owner.ts'

/** A rename of a file that has two names for a moment, or had them before. */
export interface NotedRename {
  readonly source: string
  readonly target: string
  /** The number of the file's inode. */
  readonly inode: bigint
}

/**
 * Notes of renames. All processes that share the data directory see them: so they change the names of one file one after the other, and
 * complete a rename whose process has ended. `docs/decisions/046-two-ways-to-a-new-name.md` explains why both are needed.
 */
export interface RenameNotes {
  /**
   * Runs `change` while a durable note says which file is renamed. No other call for this file runs meanwhile, in any process. `change`
   * may move the file to the path `away`.
   *
   * @throws FileServiceError `overloaded` if another process renames the file for too long, such as one that is suspended
   */
  during<T>(rename: NotedRename, change: (away: string) => Promise<T>): Promise<T>
  /** Runs `change` without a note, while no other call for the file runs in this process. */
  alone<T>(inode: bigint, change: () => Promise<T>): Promise<T>
  /** Completes the renames that are noted in `directory`, whose process has ended. */
  completeIn(directory: string): Promise<void>
  /** Gives back the files that a failing disk has kept away from their names. Rejects while it still fails. */
  giveBack(): Promise<void>
}

/** Where a process keeps its notes: its own temporary directory. */
interface NotePlace {
  readonly path: string
  createNote(text: string, kind: NoteKind): Promise<string>
  remove(path: string): Promise<void>
}

/** Milliseconds to wait for other processes that rename the same file, in all and between two looks. */
const patienceMs = 10_000
const pauseMs = 20

export function createRenameNotes(place: NotePlace, calls: FileCalls): RenameNotes {
  const parent = dirname(place.path)
  const lockFile = createKeyedLock()
  /** Notes of this process whose file is still away, since the disk failed. */
  const stranded = new Map<string, NotedRename>()

  /** Makes a durable note, and resolves with it and those of other processes about the same file. */
  const takeNote = async (rename: NotedRename) => {
    const note = await place.createNote(formatRename(rename, parent), 'rename')
    try {
      await changeDurably(place.path, async () => {}, calls)
      crashPoint('rename-noted')
      return { note, others: await findOthers(rename.inode, note) }
    } catch (error) {
      await place.remove(note)
      throw error
    }
  }
  /** Resolves with this process's note, once no other process has one for the file. */
  const acquireNote = async (rename: NotedRename): Promise<string> => {
    const since = performance.now()
    for (;;) {
      // First the note, then the look: of two processes that do both at the same time, at least one sees the other.
      const { note, others } = await takeNote(rename)
      try {
        if (others.every(({ isGone }) => isGone)) {
          for (const other of others) await complete(other, calls)
          return note
        }
      } catch (error) {
        await place.remove(note)
        throw error
      }
      await place.remove(note)
      if (performance.now() - since > patienceMs) throw beingRenamed()
      await delay(pauseMs * Math.random())
    }
  }
  const findOthers = async (inode: bigint, own: string): Promise<readonly OthersNote[]> => {
    const others: OthersNote[] = []
    for (const entry of await readdir(parent)) {
      const directory = join(parent, entry)
      for (const { path, text } of (await findNotes(directory, 'rename')) ?? []) {
        const rename = parseRename(text, parent)
        // The file of a stranded note may be gone, and its number that of another file.
        if (path === own || stranded.has(path) || rename.inode !== inode) continue
        const owner = await findTempOwner(directory)
        others.push({ path, rename, isGone: owner?.isGone === true })
      }
    }
    return others
  }
  const alone: RenameNotes['alone'] = async (inode, change) => {
    const unlock = await lockFile(String(inode))
    try {
      return await change()
    } finally {
      unlock()
    }
  }
  const giveBack: RenameNotes['giveBack'] = async () => {
    const failures: unknown[] = []
    for (const [path, rename] of stranded) {
      try {
        await alone(rename.inode, () => complete({ path, rename }, calls))
        stranded.delete(path)
      } catch (error) {
        failures.push(error)
      }
    }
    if (failures.length > 0) throw failures[0]
  }
  const during: RenameNotes['during'] = async (rename, change) => {
    // A directory that stays broken must not keep the other files from being renamed.
    await giveBack().catch(() => {})
    return alone(rename.inode, async () => {
      const note = await acquireNote(rename)
      try {
        const result = await change(awayOf(note))
        await place.remove(note)
        return result
      } catch (error) {
        // What is away may be a file that others have put there, and only the note says where it belongs.
        const isAway = await fileStats(awayOf(note), calls).then(Boolean, () => true)
        if (isAway) stranded.set(note, rename)
        else await place.remove(note)
        throw error
      }
    })
  }
  return {
    during,
    alone,
    giveBack,
    async completeIn(directory) {
      for (const { text } of (await findNotes(directory, 'rename')) ?? []) {
        await during(parseRename(text, parent), async () => {})
      }
    },
  }
}

interface OthersNote {
  readonly path: string
  readonly rename: NotedRename
  /** Whether its process has ended. */
  readonly isGone: boolean
}

function beingRenamed(): FileServiceError {
  const message = 'Another process is renaming the file'
  return new FileServiceError('overloaded', message, { retryAfterMs: 1_000 })
}

/** The text of a note: the paths are below the data directory, in which `parent` is. Names have no line breaks. */
function formatRename({ source, target, inode }: NotedRename, parent: string): string {
  const paths = [source, target].map((path) => relative(dirname(parent), path))
  return [inode, ...paths].join('\n')
}

function parseRename(text: string, parent: string): NotedRename {
  const [inode = '', ...paths] = text.split('\n')
  const [source = '', target = ''] = paths.map((path) => join(dirname(parent), path))
  return { inode: BigInt(inode), source, target }
}

/** Where the rename of `note` moves the file that it takes away from a name. */
const awayOf = (note: string) => `${note}.away`

/**
 * Completes, durably, a rename whose process has ended, and removes its note. The file keeps its earlier name if it had not got the new one
 * yet, or has lost that since.
 */
async function complete(
  { path: note, rename }: Omit<OthersNote, 'isGone'>,
  calls: FileCalls,
): Promise<void> {
  const { source, target, inode } = rename
  const away = awayOf(note)
  const leave = async () => {
    await giveBackUnless(inode, { path: source, away }, calls)
    if ((await fileStats(target, calls))?.ino === inode) {
      await leaveName(source, inode, away, calls)
    }
  }
  // An administrator may have removed the customer's directory with all that is in it.
  await changeDurably(dirname(source), leave, calls).catch(undefinedIfAbsent)
  for (const path of [away, note]) await calls.unlink(path).catch(undefinedIfAbsent)
}

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
 * Looks at the file at `away`. If its inode is `inode`, resolves with `true`. Otherwise gives it its name `path` back, unless a newer file
 * has that name, and resolves with `false`; also if there is no file.
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
