import { randomBytes } from 'node:crypto'
import { readdir, rm, unlink, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import { crashPoint } from '../files/crash-point.ts'
import type { FileCalls } from '../files/file-calls.ts'
import { makeDirectories } from '../files/make-directories.ts'
import { isAbsence, isSystemError } from '../files/system-error.ts'
import { findTempOwner } from './look-at-owner.ts'
import { identifyProcess } from './process-identity.ts'
import { addNoteToWalks, noteSuffix, readNotes } from './replacement-notes.ts'
import { tempDirectoryName } from './temp-owner.ts'
import { removeDeadMarkers, walksName } from './walk-markers.ts'

/** Where a store tells what its administrator may want to know. */
export interface WarningLog {
  warn(message: string): void
}

export interface TemporaryFile {
  readonly path: string
  /** The descriptor, open for writing. Whoever has it made closes it. */
  readonly file: number
}

/** An open store's own directory for temporary files. */
export interface TempDirectory {
  readonly path: string
  /** Makes a new empty file in the directory, and the directory too if somebody removed it. */
  createTemporaryFile(): Promise<TemporaryFile>
  /** Makes a note in the directory, and resolves with its path. */
  createNote(text: string): Promise<string>
  /** Removes a file; never fails. Where that cannot be done now, it is tried again before each new file. */
  remove(path: string): Promise<void>
  /** Removes the directory with all that is in it; never fails, and warns where that cannot be done now. */
  close(): Promise<void>
}

/** Milliseconds between two heartbeats. */
const heartbeatInterval = 20 * 1000

/** Milliseconds between two sweeps, for what the one at the start could not be sure of. */
const sweepInterval = 5 * 60 * 1000

/** Owner and group: a backup may run as a member of the group. Others have no business here. */
const fileMode = 0o640

/**
 * Takes a directory of its own inside `parent`, and removes those of processes that are gone, now and every five
 * minutes. What belongs to a live process is never touched, be it this one, another, or one on another machine. Before
 * it makes the directory again, it waits for `check`, which rejects where the file system is not mounted.
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
      // Once is enough: a disk may be read-only for days.
      if (isBeating && !isAbsence(error)) {
        log.warn(`No heartbeat in ${directory}: ${String(error)}`)
      }
      isBeating = false
    }
  }

  const remove = async (path: string) => {
    try {
      await unlink(path).catch(async (error: unknown) => {
        if (!isAbsence(error)) throw error
        // It may come back with its file system.
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

  const createTemporaryFile = async (): Promise<TemporaryFile> => {
    if (isClosed) throw new Error('The disk store is closed')
    await clearUp()
    const path = join(directory, (files++).toString(36))
    const file = await calls.open(path, 'wx', fileMode).catch(async (error: unknown) => {
      if (!isSystemError(error, 'ENOENT')) throw error
      await check()
      await makeDirectories(directory)
      return calls.open(path, 'wx', fileMode)
    })
    crashPoint('temporary-made')
    return { path, file }
  }

  const createNote = async (text: string): Promise<string> => {
    const path = join(directory, (files++).toString(36) + noteSuffix)
    await calls.symlink(text, path)
    return path
  }

  await makeDirectories(directory)
  crashPoint('instance-made')
  const sweepOthers = async () => {
    await sweep(parent, log, calls)
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
    createNote,
    remove,
    close: async () => {
      isClosed = true
      timers.forEach((timer) => clearInterval(timer))
      await rm(directory, { recursive: true, force: true }).catch((error: unknown) => {
        log.warn(`Cannot remove ${directory}, which the next start does: ${String(error)}`)
      })
    },
  }
}

/**
 * Removes the directories in `parent` whose owners are gone. A failure is logged: it harms nobody but the disk's
 * room.
 */
async function sweep(parent: string, log: WarningLog, calls: FileCalls): Promise<void> {
  const walks = join(parent, walksName)
  const removeIfDead = async (entry: string) => {
    const directory = join(parent, entry)
    const owner = await findTempOwner(directory)
    if (owner?.isGone !== true) return
    const unfinished = (await readdir(directory)).filter(
      (file) => !file.endsWith(noteSuffix),
    ).length
    crashPoint('left-overs-found')
    // It may have died behind a rename that a walk has to know of.
    for (const text of (await readNotes(directory)) ?? []) await addNoteToWalks(text, walks, calls)
    await rm(directory, { recursive: true, force: true })
    crashPoint('left-overs-removed')
    if (unfinished === 0) return
    log.warn(
      `Removed ${unfinished} unfinished file(s) that process ${owner.pid} left in ${directory}`,
    )
  }
  const warn = (error: unknown) => log.warn(`Cannot clear ${parent}: ${String(error)}`)
  const entries = await readdir(parent).catch((error: unknown) => {
    warn(error)
    return []
  })
  for (const entry of entries) {
    await removeIfDead(entry).catch((error: unknown) => {
      // Another store was faster.
      if (!isAbsence(error)) warn(error)
    })
  }
}
