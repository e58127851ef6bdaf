import { randomBytes } from 'node:crypto'
import { mkdir, rm, unlink, utimes, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { crashPoint } from '../files/crash-point.ts'
import { type FileCalls, isAbsence, isSystemError } from '../files/file-calls.ts'
import { directoryMode, makeDirectories } from '../files/file-system.ts'
import {
  addNoteToWalks,
  type NoteKind,
  noteSuffixes,
  readNotes,
  removeDeadMarkers,
  walksName,
} from './notes.ts'
import { createRenameNotes, type RenameNotes } from './rename-notes.ts'
import { identifyProcess, tempDirectoryName, findTempOwner } from './temp-owner.ts'

/** Receives the warnings of a store for its administrator. */
export interface WarningLog {
  warn(message: string): void
}

export interface TemporaryFile {
  readonly path: string
  /** The descriptor, open for writing. The caller closes it. */
  readonly file: number
}

/** An open store's own directory for temporary files. */
export interface TempDirectory {
  readonly path: string
  /** Makes a new empty file in the directory, and the directory again if it was removed. */
  createTemporaryFile(): Promise<TemporaryFile>
  /** Makes a new empty directory in the directory, and resolves with its path. The caller removes it. */
  createTemporaryDirectory(): Promise<string>
  /** Makes a note in the directory, and resolves with its path. The caller removes it. */
  createNote(text: string, kind: NoteKind): Promise<string>
  readonly renames: RenameNotes
  /** Removes a file; never fails. If it cannot be removed now, it is tried again before each new file. */
  remove(path: string): Promise<void>
  /** Removes the directory with its content; never fails, and warns if it cannot be removed now. */
  close(): Promise<void>
}

/** Milliseconds between two heartbeats. */
const heartbeatInterval = 20 * 1000

/** Milliseconds between two sweeps. The first sweep may find owners of whose death it cannot be sure yet. */
const sweepInterval = 5 * 60 * 1000

/** Owner and group: a backup may run as a member of the group. Other users may read nothing. */
export const fileMode = 0o640

/**
 * Makes the temporary directory of this store inside `parent`, and removes those of dead processes, now and every five minutes. It never
 * touches the directory of a live process, on this machine or another. If its own directory is removed, it waits for `check` before it
 * makes it again: `check` rejects while the file system is not mounted.
 */
export async function openTempDirectory(
  parent: string,
  log: WarningLog,
  check: () => Promise<void>,
  calls: FileCalls,
): Promise<TempDirectory> {
  const self = identifyProcess()
  const own = tempDirectoryName(self, randomBytes(6).toString('hex'))
  const directory = join(parent, own)
  const remains = new Set<string>()
  let files = 0
  let isClosed = false
  let isBeating = true

  const beat = async () => {
    try {
      await utimes(directory, new Date(), new Date())
      isBeating = true
    } catch (error) {
      // Warn once only: a disk may be read-only for days.
      if (isBeating && !isAbsence(error)) {
        log.warn(`Cannot write the heartbeat of ${directory}: ${String(error)}`)
      }
      isBeating = false
    }
  }

  const remove = async (path: string) => {
    try {
      await unlink(path).catch(async (error: unknown) => {
        if (!isAbsence(error)) throw error
        // The file may reappear when its file system is mounted again.
        await check()
      })
      remains.delete(path)
    } catch {
      remains.add(path)
    }
  }

  const clearUp = async () => {
    for (const path of remains) {
      await remove(path)
      if (remains.has(path)) return
    }
  }

  /** Runs `make`, and again if the directory is missing: others may have taken this process for dead, and removed it. */
  const inDirectory = async <T>(make: () => Promise<T>): Promise<T> => {
    try {
      return await make()
    } catch (error) {
      if (!isSystemError(error, 'ENOENT')) throw error
    }
    await check()
    await makeDirectories(directory)
    return make()
  }

  const createTemporaryFile = async (): Promise<TemporaryFile> => {
    if (isClosed) throw new Error('The disk store is closed')
    await clearUp()
    const path = join(directory, (files++).toString(36))
    const file = await inDirectory(() => calls.open(path, 'wx', fileMode))
    crashPoint('temporary-made')
    return { path, file }
  }

  const createTemporaryDirectory = async (): Promise<string> => {
    if (isClosed) throw new Error('The disk store is closed')
    const path = join(directory, (files++).toString(36))
    await inDirectory(() => mkdir(path, directoryMode))
    return path
  }

  const createNote = async (text: string, kind: NoteKind): Promise<string> => {
    const path = join(directory, (files++).toString(36) + noteSuffixes[kind])
    await inDirectory(() => calls.symlink(text, path))
    return path
  }

  const renames = createRenameNotes({ path: directory, createNote, remove }, calls)
  await makeDirectories(directory)
  crashPoint('instance-made')
  const sweepOthers = async () => {
    await renames.giveBack().catch(() => {})
    await removeOrphans(parent, (message) => log.warn(message), { calls, renames })
    await removeDeadMarkers(parent, directory)
  }
  await sweepOthers()
  const timers = [
    setInterval(() => void beat(), heartbeatInterval).unref(),
    setInterval(() => void sweepOthers(), sweepInterval).unref(),
  ]

  return {
    path: directory,
    createTemporaryFile,
    createTemporaryDirectory,
    createNote,
    renames,
    remove,
    close: async () => {
      isClosed = true
      timers.forEach((timer) => clearInterval(timer))
      try {
        await renames.giveBack()
        await rm(directory, { recursive: true, force: true })
      } catch (error) {
        log.warn(`Cannot remove ${directory}, so the next start removes it: ${String(error)}`)
      }
    },
  }
}

/** Removes the directories in `parent` whose owners are dead. A failure only costs disk space, so it only warns. */
async function removeOrphans(
  parent: string,
  warn: (message: string) => void,
  { calls, renames }: { readonly calls: FileCalls; readonly renames: RenameNotes },
): Promise<void> {
  const walks = join(parent, walksName)
  const removeIfDead = async (entry: string) => {
    const directory = join(parent, entry)
    const owner = await findTempOwner(directory)
    if (owner?.isGone !== true) return
    const suffixes = Object.values(noteSuffixes)
    const unfinished = (await readdir(directory)).filter(
      (file) => !suffixes.some((suffix) => file.endsWith(suffix)),
    ).length
    crashPoint('left-overs-found')
    await renames.completeIn(directory)
    // The owner may have died after a rename, before it delivered its note to the walks.
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
