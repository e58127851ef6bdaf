import { createHash } from 'node:crypto'
import { readdir, readlink } from 'node:fs/promises'
import { join } from 'node:path'
import type { FileCalls } from '../files/file-calls.ts'
import { isAbsence, isSystemError } from '../files/system-error.ts'

/** The suffix of a note's name; no temporary file has it. */
export const noteSuffix = '.note'

/**
 * The texts of the notes in `directory`; `undefined` if there is no such directory. A note is a symbolic link whose
 * target is the text: the link and its text are made atomically.
 */
export async function readNotes(directory: string): Promise<readonly string[] | undefined> {
  const entries = await namesIn((path) => readdir(path), directory)
  if (!entries) return undefined
  const texts: string[] = []
  for (const entry of entries) {
    if (!entry.endsWith(noteSuffix)) continue
    const text = await textOf(join(directory, entry))
    if (text !== undefined) texts.push(text)
  }
  return texts
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
  const name = createHash('sha256').update(text).digest('hex') + noteSuffix
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
