import { readdir } from 'node:fs/promises'
import { basename, dirname, join, relative } from 'node:path'
import type { FileCalls } from '../files/file-calls.ts'
import { addNoteToWalks, readNotes } from './replacement-notes.ts'
import type { TempDirectory } from './temp-directory.ts'
import { DisturbedWalk, makeMarker, removeMarker, walksName } from './walk-markers.ts'

/**
 * Lets a walk through a directory learn which files were replaced meanwhile, by whichever process, where a file that
 * replaces another may get a place that the walk has passed. `docs/decisions/019-lists-of-moving-files.md` proves it.
 */
export interface ReplacementJournal {
  /** Does `giveName`, which may replace the file at `target`. */
  replace(target: string, giveName: () => Promise<void>): Promise<void>
  /**
   * Does `walk`. When it has found all that it finds by itself, it may ask for the paths of the files that were
   * replaced since it began, each once, and of some others.
   *
   * @throws MarkerFailure if it cannot begin, DisturbedWalk if replaced files are not known, so that it must begin again
   */
  watch<T>(walk: (replaced: () => Promise<readonly string[]>) => Promise<T>): Promise<T>
  /** Waits until no name is being given. */
  settle(): Promise<void>
}

/** For a file system that keeps the places of replaced files. */
export const noReplacements: Pick<ReplacementJournal, 'replace' | 'settle'> = {
  replace: (_, giveName) => giveName(),
  settle: async () => {},
}

/** The journal of the files in the directory `files`, for the process that has `tempDirectory`. */
export function createReplacementJournal(
  files: string,
  tempDirectory: TempDirectory,
  calls: FileCalls,
): ReplacementJournal {
  const tmp = dirname(tempDirectory.path)
  const walks = join(tmp, walksName)
  /** Notes that could not be handed over, and their texts. They serve where they are. */
  const kept = new Map<string, string>()
  const underWay = new Set<Promise<void>>()
  let begun = 0

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
    const note = await tempDirectory.createNote(text)
    try {
      await giveName()
    } finally {
      // What has failed may have happened all the same.
      await deliver(note, text)
    }
  }

  /** A note is in the directory of its owner until all walks have it: that of this one comes last. */
  const replacedSince = async (marker: string): Promise<readonly string[]> => {
    const texts = new Set<string>()
    for (const owner of await readdir(tmp)) {
      for (const text of (await readNotes(join(tmp, owner))) ?? []) texts.add(text)
    }
    const handedOver = await readNotes(marker)
    if (!handedOver) throw new DisturbedWalk()
    for (const text of handedOver) texts.add(text)
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
      const name = `${basename(tempDirectory.path)}.${begun++}`
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
