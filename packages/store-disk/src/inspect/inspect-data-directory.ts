import { realpath, stat, statfs, rm, rmdir } from 'node:fs/promises'
import { join, resolve, dirname } from 'node:path'
import { randomBytes } from 'node:crypto'
import { adviceOf, finding, type Finding } from '@holdfast/core'
import { identifyDirectory } from '../directory/data-directory.ts'
import { createLayout } from '../directory/layout.ts'
import type { LayoutFile } from '../directory/layout-file.ts'
import { isAbsence, isSystemError } from '../files/translate-fs-error.ts'
import { findMount } from '../files/file-system.ts'
import { makeDirectories } from '../files/make-directories.ts'
import { identifyProcess, tempDirectoryName } from '../temp/temp-owner.ts'
import {
  fileSystemFinding,
  leftOverFindings,
  permissionFindings,
  spaceFindings,
  uploadFindings,
  shellWord,
} from './findings.ts'
import { summarizeFiles, summaryFindings } from './summarize-files.ts'
import { tryFileSystem } from './try-file-system.ts'

export interface InspectionOptions {
  /** As given to `openDiskBlobStore`; need not be there. */
  readonly directory: string
  /** Bytes that customers may keep together, as far as they have a limit. Default: 0, for no limits. */
  readonly promisedBytes?: number
  /** The most entries to look at among the files. Default: 100,000. */
  readonly mostEntries?: number
  /** Ends the inspection soon; what it has made is removed first. */
  readonly signal?: AbortSignal | undefined
}

/**
 * Looks whether a store can keep files in a directory, and keeps them well, and says what to do where not: finding after
 * finding, as they are made. Harmless at any time, also beside running stores: what it tries, it tries in a directory of
 * its own in `tmp`, which it removes when the iteration ends. Of a process that was killed, the next store to start
 * removes it. Rejects with the reason of `signal`, and with what the system says of a disk that cannot be looked at.
 */
export async function* inspectDataDirectory(options: InspectionOptions): AsyncGenerator<Finding> {
  const data = resolve(options.directory)
  const { signal, promisedBytes = 0 } = options
  const place = await findPlace(data)
  yield place.finding
  if (place.existing === undefined) return
  yield fileSystemFinding(await findMount(await realpath(place.existing)), data)
  yield* spaceFindings(await statfs(place.existing), promisedBytes)
  const permissions = await permissionFindings(data)
  yield* permissions
  if (permissions.some(({ check, mark }) => check === 'permissions' && mark === 'problem')) {
    yield finding('skipped', 'files', 'not looked at without those permissions')
    return
  }
  const { layoutFile, layout } = await identify(data, place.existing === data)
  yield layout
  if (layout.mark === 'problem') return
  signal?.throwIfAborted()
  yield* tryOut(data, layoutFile, signal)
  if (layoutFile) yield* lookAtFiles(data, layoutFile, options)
}

async function identify(data: string, isThere: boolean) {
  try {
    const layoutFile = isThere ? await identifyDirectory(data) : undefined
    const message = layoutFile
      ? `version 1, names ${layoutFile.names}`
      : 'none yet; the server makes one'
    return { layoutFile, layout: finding('ok', 'layout', message) }
  } catch (error) {
    const { problem, remedies } = adviceOf(error)
    return { layoutFile: undefined, layout: finding('problem', 'layout', problem, ...remedies) }
  }
}

/** Tries the file system, and looks at what else is in `tmp`. */
async function* tryOut(
  data: string,
  layoutFile: LayoutFile | undefined,
  signal: AbortSignal | undefined,
): AsyncGenerator<Finding> {
  const trial = await makeTrialDirectory(data).catch((error: unknown) => String(error))
  if (typeof trial === 'string') {
    yield cannotWrite(data, trial)
    return
  }
  try {
    for await (const found of tryFileSystem(trial.path, layoutFile?.names)) {
      yield found
      signal?.throwIfAborted()
    }
    yield* await leftOverFindings(data, trial.path)
  } finally {
    await trial.remove()
  }
}

function cannotWrite(data: string, reason: string): Finding {
  const [path, user] = [shellWord(data), process.geteuid?.() ?? 'USER']
  const remedy = /ENOSPC|EDQUOT/.test(reason)
    ? 'Make room: the disk, or the share of it that this user has, is full.'
    : `mkdir -p ${path} && chown ${user} ${path}`
  return finding('problem', 'writing', `nothing can be made in ${data}: ${reason}`, remedy)
}

async function* lookAtFiles(
  data: string,
  layoutFile: LayoutFile,
  { signal, mostEntries = 100_000 }: InspectionOptions,
): AsyncGenerator<Finding> {
  const [files, uploads] = [join(data, 'files'), join(data, 'uploads')]
  yield oneMountFinding(
    await Promise.all([data, files, uploads, join(data, 'tmp')].map(mountPoint)),
    data,
  )
  const { uid, dev: device } = await stat(data)
  const options = { most: mostEntries, uid, device, signal }
  yield* summaryFindings(
    await summarizeFiles(createLayout(files, layoutFile.names), options),
    files,
    uid,
  )
  yield* await uploadFindings(createLayout(uploads, layoutFile.names), mostEntries)
}

/** Where the file system of `path` is mounted; `undefined` if `path` is missing or the system does not report it. */
async function mountPoint(path: string): Promise<string | undefined> {
  try {
    return (await findMount(await realpath(path)))?.point
  } catch (error) {
    if (isAbsence(error)) return undefined
    throw error
  }
}

/** Files are renamed from `tmp` to `files`, which takes one mount and not only one disk. */
function oneMountFinding(points: readonly (string | undefined)[], data: string): Finding {
  const different = new Set(points.filter((point) => point !== undefined))
  if (different.size <= 1) return finding('ok', 'one mount', 'files and tmp are in one file system')
  const message = `${data} has several file systems (${[...different].join(', ')}); uploads cannot be moved from one to the other`
  return finding('problem', 'one mount', message, 'Mount one file system at the directory itself.')
}

interface Place {
  readonly finding: Finding
  /** The directory itself, or the one nearest above it that is there; `undefined` where there can be none. */
  readonly existing: string | undefined
}

/** Whether the directory `data` is there, or could be made. */
async function findPlace(data: string): Promise<Place> {
  try {
    if (!(await stat(data)).isDirectory()) return unusable(data, 'it is a file')
    return { finding: finding('ok', check, data), existing: data }
  } catch (error) {
    if (!isAbsence(error)) return unusable(data, String(error))
  }
  const existing = await nearestAbove(data)
  if (existing === undefined) return unusable(data, 'a part of the path is a file')
  const message = `${data} is missing; the server makes it`
  return { finding: finding('ok', check, message), existing }
}

const check = 'directory'

function unusable(data: string, reason: string): Place {
  const remedies = [
    'Give another directory, or see what is in the way:',
    `namei -l ${shellWord(data)}`,
  ]
  const problem = finding('problem', check, `${data} cannot be used: ${reason}`, ...remedies)
  return { finding: problem, existing: undefined }
}

async function nearestAbove(path: string): Promise<string | undefined> {
  const above = dirname(path)
  try {
    return (await stat(above)).isDirectory() ? above : undefined
  } catch (error) {
    return isAbsence(error) && above !== path ? nearestAbove(above) : undefined
  }
}

/** A directory to try things in, where a store keeps temporary files. */
interface TrialDirectory {
  readonly path: string
  /** Removes it, and the directories that were made above it unless they are in use. */
  remove(): Promise<void>
}

/**
 * Makes a directory of this process in the `tmp` of the data directory `data`, which need not be there. Whatever a killed
 * process leaves of it the next store to start removes, as it does with uploads that broke off.
 */
async function makeTrialDirectory(data: string): Promise<TrialDirectory> {
  const unique = randomBytes(6).toString('hex')
  const path = join(data, 'tmp', tempDirectoryName(identifyProcess(), unique))
  const made = await makeDirectories(path)
  return {
    path,
    async remove() {
      await rm(path, { recursive: true, force: true })
      for (const directory of made.toReversed()) await removeIfEmpty(directory)
    },
  }
}

async function removeIfEmpty(directory: string): Promise<void> {
  try {
    await rmdir(directory)
  } catch (error) {
    if (!isAbsence(error) && !isSystemError(error, 'ENOTEMPTY', 'EEXIST')) throw error
  }
}
