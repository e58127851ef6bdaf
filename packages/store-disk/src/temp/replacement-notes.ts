import { createHash } from 'node:crypto'
import { readdir, readlink } from 'node:fs/promises'
import { join } from 'node:path'
import type { FileCalls } from '../files/file-calls.ts'
import { isAbsence, isSystemError } from '../files/system-error.ts'

/** The end of a note's name. Temporary files have other names. */
export const noteSuffix = '.note'

/**
 * The texts of the notes in `directory`; `undefined` if there is no such directory. A note is a symbolic link that leads
 * nowhere: it is made with its text, in one step.
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

/** Puts a note of `text` into each of the directories in `walks`, which need not exist. */
export async function addNoteToWalks(
  text: string,
  walks: string,
  calls: Pick<FileCalls, 'readdir' | 'symlink'>,
): Promise<void> {
  const under = await namesIn((path) => calls.readdir(path), walks)
  if (!under || under.length === 0) return
  // The same text has the same name: a walk needs no more than one of each, however long it takes.
  const name = createHash('sha256').update(text).digest('hex') + noteSuffix
  for (const walk of under) {
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
