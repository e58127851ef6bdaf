import { readdir } from 'node:fs/promises'
import { basename, dirname, join, relative } from 'node:path'
import type { FileCalls } from '../files/file-calls.ts'
import {
  addNoteToWalks,
  readNotes,
  DisturbedWalk,
  makeMarker,
  removeMarker,
  walksName,
} from './notes.ts'
import type { TempDirectory } from './temp-directory.ts'

/**
 * Reports to a walk through a directory which files were replaced meanwhile, by any process. It is for file systems where a replacing file
 * may get an entry that the walk has passed. `docs/decisions/019-lists-of-moving-files.md` proves it.
 */
export interface ReplacementJournal {
  /** Calls `giveName`, which may replace the file at `target`, and notes that for all walks. */
  replace(target: string, giveName: () => Promise<void>): Promise<void>
  /**
   * Calls `walk`. After `walk` has read all entries, it may call `replaced` for the paths of the files that were replaced since it
   * started. Each comes once; some other paths may be among them.
   *
   * @throws MarkerFailure if the walk cannot start; DisturbedWalk if the notes are lost, so that it must start again
   */
  watch<T>(walk: (replaced: () => Promise<readonly string[]>) => Promise<T>): Promise<T>
  /** Resolves when no replacement is running. */
  settle(): Promise<void>
}

/** For file systems where a file is replaced in place: nothing needs to be noted. */
export const noReplacements: Pick<ReplacementJournal, 'replace' | 'settle'> = {
  replace: (_, giveName) => giveName(),
  settle: async () => {},
}

/** Makes the journal of the files in the directory `files`, for the store of `tempDirectory`. */
export function createReplacementJournal(
  files: string,
  tempDirectory: TempDirectory,
  calls: FileCalls,
): ReplacementJournal {
  const tmp = dirname(tempDirectory.path)
  const walks = join(tmp, walksName)
  /** Notes that could not be delivered, with their texts. Walks find them in the directory of this process. */
  const kept = new Map<string, string>()
  const underWay = new Set<Promise<void>>()
  let started = 0

  const deliver = async (note: string, text: string) => {
    try {
      await addNoteToWalks(text, walks, calls)
      kept.delete(note)
    } catch {
      kept.set(note, text)
      return
    }
    await calls.unlink(note).catch(() => tempDirectory.remove(note))
  }

  const deliverKept = async () => {
    for (const [note, text] of kept) {
      await deliver(note, text)
      if (kept.has(note)) return
    }
  }

  const replaceNoting = async (target: string, giveName: () => Promise<void>) => {
    await deliverKept()
    const text = relative(files, target)
    const note = await tempDirectory.createNote(text, 'replacement')
    try {
      await giveName()
    } finally {
      // A rename that failed may have taken effect.
      await deliver(note, text)
    }
  }

  /** Reads the notes of this walk last: a note stays with its owner until all walks have it. */
  const replacedSince = async (marker: string): Promise<readonly string[]> => {
    const texts = new Set<string>()
    for (const owner of await readdir(tmp)) {
      for (const text of (await readNotes(join(tmp, owner))) ?? []) texts.add(text)
    }
    const delivered = await readNotes(marker)
    if (!delivered) throw new DisturbedWalk()
    for (const text of delivered) texts.add(text)
    return Array.from(texts, (text) => join(files, text))
  }

  return {
    async replace(target, giveName) {
      const replacing = replaceNoting(target, giveName)
      const settled = replacing.catch(() => {})
      underWay.add(settled)
      await replacing.finally(() => underWay.delete(settled))
    },

    async watch(walk) {
      const name = `${basename(tempDirectory.path)}.${started++}`
      const marker = join(walks, name)
      await makeMarker(marker)
      try {
        return await walk(() => replacedSince(marker))
      } finally {
        await removeMarker(marker, tempDirectory.path)
      }
    },

    async settle() {
      await Promise.all(underWay)
    },
  }
}
