import { createHash } from 'node:crypto'
import { readdir, readlink, mkdir, rename, rm, rmdir, stat } from 'node:fs/promises'
import { join, basename, dirname } from 'node:path'
import { type FileCalls, isAbsence, isSystemError, undefinedIfAbsent } from '../files/file-calls.ts'
import { directoryMode } from '../files/file-system.ts'
import { parseTempDirectoryName } from './temp-owner.ts'

/**
 * What a process notes in its temporary directory, for other processes: that a file is replaced (`replacement-journal.ts`), or that one is
 * renamed (`rename-notes.ts`). A note is a symbolic link whose target is the text: the link and its text are made atomically. These are
 * the suffixes of their names; no temporary file has one.
 */
export const noteSuffixes = { replacement: '.note', rename: '.rename' } as const

export type NoteKind = keyof typeof noteSuffixes

/** The texts of the notes of replacements in `directory`; `undefined` if there is no such directory. */
export async function readNotes(directory: string): Promise<readonly string[] | undefined> {
  return (await findNotes(directory, 'replacement'))?.map(({ text }) => text)
}

/** The notes of this kind in `directory`; `undefined` if there is no such directory. */
export async function findNotes(
  directory: string,
  kind: NoteKind,
): Promise<readonly { readonly path: string; readonly text: string }[] | undefined> {
  const entries = await readdir(directory).catch(undefinedIfAbsent)
  if (!entries) return undefined
  const notes: { path: string; text: string }[] = []
  for (const entry of entries) {
    if (!entry.endsWith(noteSuffixes[kind])) continue
    const path = join(directory, entry)
    const text = await readlink(path).catch(undefinedIfAbsent)
    if (text !== undefined) notes.push({ path, text })
  }
  return notes
}

/** Makes a note of `text` in each directory in `walks`, which need not exist. */
export async function addNoteToWalks(
  text: string,
  walks: string,
  calls: Pick<FileCalls, 'readdir' | 'symlink'>,
): Promise<void> {
  const running = await calls.readdir(walks).catch(undefinedIfAbsent)
  if (!running || running.length === 0) return
  // The same text gives the same name: a walk needs one note of each text.
  const name = createHash('sha256').update(text).digest('hex') + noteSuffixes.replacement
  for (const walk of running) {
    try {
      await calls.symlink(text, join(walks, walk, name))
    } catch (error) {
      // The walk has it already, or has ended.
      if (!isSystemError(error, 'EEXIST') && !isAbsence(error)) throw error
    }
  }
}

/**
 * The directory in `tmp` that holds the markers. Each running walk has a marker: a directory for notes of files that are replaced
 * meanwhile. It is named after the temporary directory of its process, and a number.
 */
export const walksName = 'walks'

/** A directory changed during a walk, so that the walk may lack entries. */
export class DisturbedWalk extends Error {}

/** No marker can be made for a walk; `cause` is the error of the system. */
export class MarkerFailure extends Error {}

/** Attempts to make a marker: another process may remove the directory of all markers together with the last one. */
const attempts = 10

export async function makeMarker(marker: string): Promise<void> {
  try {
    for (let attempt = 1; ; attempt++) {
      if (await tryToMake(marker)) return
      if (attempt === attempts) throw new Error(`${dirname(marker)} is removed again and again`)
      // If the file system was unmounted, `tmp` is missing here, and must not be made.
      await mkdir(dirname(marker), { mode: directoryMode }).catch((error: unknown) => {
        if (!isSystemError(error, 'EEXIST')) throw error
      })
    }
  } catch (cause) {
    throw new MarkerFailure('A walk cannot be marked', { cause })
  }
}

async function tryToMake(marker: string): Promise<boolean> {
  try {
    await mkdir(marker, { mode: directoryMode })
    return true
  } catch (error) {
    if (isAbsence(error)) return false
    throw error
  }
}

/**
 * Removes the marker of a walk; never fails. It moves the marker into `directory` first, where no process adds notes. A
 * marker that cannot be removed stays until the next sweep, or until its owner ends.
 */
export async function removeMarker(marker: string, directory: string): Promise<void> {
  const trash = join(directory, `${basename(marker)}.walk`)
  try {
    await rename(marker, trash)
    await rm(trash, { recursive: true })
  } catch {
    return
  }
  await rmdir(dirname(marker)).catch(() => {})
}

/** Removes the markers of processes that no longer have a directory in `tmp`; moves them into `directory` first. */
export async function removeDeadMarkers(tmp: string, directory: string): Promise<void> {
  const walks = join(tmp, walksName)
  for (const marker of await readdir(walks).catch(() => [])) {
    const owner = marker.slice(0, marker.lastIndexOf('.'))
    if (parseTempDirectoryName(owner) && (await isGone(join(tmp, owner)))) {
      await removeMarker(join(walks, marker), directory)
    }
  }
}

async function isGone(directory: string): Promise<boolean> {
  return stat(directory).then(() => false, isAbsence)
}
