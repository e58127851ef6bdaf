import { createHash } from 'node:crypto'
import { readdir, readlink } from 'node:fs/promises'
import { join } from 'node:path'
import { type FileCalls, isAbsence, isSystemError } from '../files/file-calls.ts'

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
  const entries = await namesIn((path) => readdir(path), directory)
  if (!entries) return undefined
  const notes: { path: string; text: string }[] = []
  for (const entry of entries) {
    if (!entry.endsWith(noteSuffixes[kind])) continue
    const path = join(directory, entry)
    const text = await textOf(path)
    if (text !== undefined) notes.push({ path, text })
  }
  return notes
}

async function textOf(note: string): Promise<string | undefined> {
  try {
    return await readlink(note)
  } catch (error) {
    if (isAbsence(error)) return undefined
    throw error
  }
}

/** Makes a note of `text` in each directory in `walks`, which need not exist. */
export async function addNoteToWalks(
  text: string,
  walks: string,
  calls: Pick<FileCalls, 'readdir' | 'symlink'>,
): Promise<void> {
  const running = await namesIn((path) => calls.readdir(path), walks)
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

async function namesIn(
  read: (directory: string) => Promise<readonly string[]>,
  directory: string,
): Promise<readonly string[] | undefined> {
  try {
    return await read(directory)
  } catch (error) {
    if (isAbsence(error)) return undefined
    throw error
  }
}
