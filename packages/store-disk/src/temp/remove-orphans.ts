import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { crashPoint } from '../files/crash-point.ts'
import type { FileCalls } from '../files/file-calls.ts'
import { isAbsence } from '../files/system-error.ts'
import { addNoteToWalks, noteSuffix, readNotes } from './replacement-notes.ts'
import { findTempOwner } from './temp-owner.ts'
import { walksName } from './walk-markers.ts'

/** Removes the directories in `parent` whose owners are dead. It only warns of a failure, which costs disk space. */
export async function removeOrphans(
  parent: string,
  warn: (message: string) => void,
  calls: FileCalls,
): Promise<void> {
  const walks = join(parent, walksName)
  const removeIfDead = async (entry: string) => {
    const directory = join(parent, entry)
    const owner = await findTempOwner(directory)
    if (owner?.isGone !== true) return
    const unfinished = (await readdir(directory)).filter(
      (file) => !file.endsWith(noteSuffix),
    ).length
    crashPoint('left-overs-found')
    // The owner may have died after a rename, before it noted that for the walks.
    for (const text of (await readNotes(directory)) ?? []) await addNoteToWalks(text, walks, calls)
    await rm(directory, { recursive: true, force: true })
    crashPoint('left-overs-removed')
    if (unfinished === 0) return
    warn(`Removed ${unfinished} unfinished file(s) that process ${owner.pid} left in ${directory}`)
  }
  const warnOf = (error: unknown) => warn(`Cannot clear ${parent}: ${String(error)}`)
  const entries = await readdir(parent).catch((error: unknown) => {
    warnOf(error)
    return []
  })
  for (const entry of entries) {
    await removeIfDead(entry).catch((error: unknown) => {
      // Another store was faster.
      if (!isAbsence(error)) warnOf(error)
    })
  }
}
