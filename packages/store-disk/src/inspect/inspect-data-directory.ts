import {
  realpath,
  stat,
  statfs,
  rm,
  rmdir,
  link,
  open,
  readFile,
  rename,
  writeFile,
} from 'node:fs/promises'
import { join, resolve, dirname } from 'node:path'
import { randomBytes } from 'node:crypto'
import { adviceOf, finding, type Finding, messageOf } from '@holdfast/core'
import { identifyDirectory, findUnkeptName } from '../directory/data-directory.ts'
import type { LayoutFile } from '../directory/layout-file.ts'
import { createLayout, type NamesMode } from '../directory/layout.ts'
import { changeDurably } from '../files/change-durably.ts'
import { isAbsence, isSystemError, undefinedIfAbsent } from '../files/file-calls.ts'
import { findMount, makeDirectories } from '../files/file-system.ts'
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

export interface InspectionOptions {
  /** As given to `openDiskBlobStore`; need not exist. */
  readonly directory: string
  /** The sum of the limits of customers who have one. Default: 0, for no limits. */
  readonly promisedBytes?: number
  /** How many bytes should be free. Default: 16 MiB. */
  readonly leastBytes?: number | undefined
  /** The most entries to inspect among the files. Default: 100,000. */
  readonly mostEntries?: number
  /** Ends the inspection soon; it first removes what it has made. */
  readonly signal?: AbortSignal | undefined
}

/**
 * Checks whether a store can keep files well in a directory. Yields each finding as it is made, with a remedy where something is wrong.
 * Harmless at any time, also beside running stores: it makes its trials in a directory of its own in `tmp`, and removes that when the
 * iteration ends. If the process is killed, the next store to start removes it. Rejects with the reason of `signal`, or with the system's
 * error if the disk cannot be inspected.
 */
export async function* inspectDataDirectory(options: InspectionOptions): AsyncGenerator<Finding> {
  const data = resolve(options.directory)
  const { signal, promisedBytes = 0, leastBytes } = options
  const found = await findDirectory(data)
  yield found.finding
  if (found.existing === undefined) return
  yield fileSystemFinding(await findMount(await realpath(found.existing)), data)
  yield* spaceFindings(await statfs(found.existing), promisedBytes, leastBytes)
  const permissions = await permissionFindings(data)
  yield* permissions
  if (permissions.some(({ check, mark }) => check === 'permissions' && mark === 'problem')) {
    yield finding('skipped', 'files', 'not looked at without those permissions')
    return
  }
  const { layoutFile, layout } = await identify(data, found.existing === data)
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

/** Tries the file system, and reports what else is in `tmp`. */
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
    ? "Make room: the disk, or this user's quota of it, is full."
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
    await Promise.all(
      [data, files, uploads, ...['links', 'expiry', 'tmp'].map((name) => join(data, name))].map(
        mountPoint,
      ),
    ),
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
  const real = await realpath(path).catch(undefinedIfAbsent)
  return real === undefined ? undefined : (await findMount(real))?.point
}

/** Files are renamed from `tmp` to `files`: both must be in one mount; one disk is not enough. */
function oneMountFinding(points: readonly (string | undefined)[], data: string): Finding {
  const different = new Set(points.filter((point) => point !== undefined))
  if (different.size <= 1) return finding('ok', 'one mount', 'files and tmp are in one file system')
  const message = `${data} has several file systems (${[...different].join(', ')}); uploads cannot be moved from one to the other`
  return finding('problem', 'one mount', message, 'Mount one file system at the directory itself.')
}

interface FoundDirectory {
  readonly finding: Finding
  /** The directory itself, or the nearest one above it that exists; `undefined` where there can be none. */
  readonly existing: string | undefined
}

/** Whether the directory `data` exists, or could be made. */
async function findDirectory(data: string): Promise<FoundDirectory> {
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

function unusable(data: string, reason: string): FoundDirectory {
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

/** A directory for trials, where a store keeps temporary files. */
interface TrialDirectory {
  readonly path: string
  /** Removes it, and the directories that were made above it, unless these are in use. */
  remove(): Promise<void>
}

/**
 * Makes a directory of this process in the `tmp` of the data directory `data`, which need not exist. If the process is killed, the next
 * store to start removes it, as it does with uploads that broke off.
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

/**
 * Tries with files of its own in `directory`, which is empty, what a store does with files: durable writes, renames, links, odd names.
 * `names` is the naming mode of the store, if there is one already.
 */
async function* tryFileSystem(
  directory: string,
  names: NamesMode | undefined,
): AsyncGenerator<Finding> {
  yield await attempt('syncing', () => trySyncing(directory))
  yield await attempt('renaming', () => tryRenaming(directory))
  yield await attempt('hard links', () => tryLinking(directory))
  yield await attempt('names', async () => namesFinding(await findUnkeptName(directory), names))
  yield await attempt('file times', () => tryClock(directory))
}

async function attempt(check: string, work: () => Promise<Finding>): Promise<Finding> {
  try {
    return await work()
  } catch (error) {
    const reason = messageOf(error)
    const remedy = isSystemError(error, 'ENOSPC', 'EDQUOT')
      ? "Make room: the disk, or this user's quota of it, is full."
      : 'See what the kernel reports about the disks: dmesg | tail'
    return finding('problem', check, `failed: ${reason}`, remedy)
  }
}

const syncTries = 9

async function trySyncing(directory: string): Promise<Finding> {
  const times: number[] = []
  for (let count = 0; count < syncTries; count++) {
    const begin = performance.now()
    await writeDurably(directory)
    times.push(performance.now() - begin)
  }
  const middle = times.sort((a, b) => a - b)[Math.floor(syncTries / 2)] ?? 0
  const message = `works; a small file takes about ${middle.toFixed(middle < 10 ? 1 : 0)} ms to be safe`
  return finding('ok', 'syncing', message)
}

/** Writes a file as an upload does. */
async function writeDurably(directory: string): Promise<void> {
  const [temporary, target] = [join(directory, 'unsynced'), join(directory, 'synced')]
  const handle = await open(temporary, 'w')
  try {
    await handle.writeFile('holdfast')
    await handle.sync()
  } finally {
    await handle.close()
  }
  await changeDurably(directory, () => rename(temporary, target))
}

const renames = 200

/** Checks that a reader of a file that is replaced again and again finds it whole, the old one or the new. */
async function tryRenaming(directory: string): Promise<Finding> {
  const [next, target] = [join(directory, 'next'), join(directory, 'target')]
  const contents = ['old', 'new'].map((word) => word.repeat(1000))
  const replace = async (count: number) => {
    await writeFile(next, contents[count % 2] ?? '')
    await rename(next, target)
  }
  await replace(0)
  const replacing = (async () => {
    for (let count = 1; count <= renames; count++) await replace(count)
  })()
  let isOver = false
  void replacing.catch(() => {}).finally(() => (isOver = true))
  let broken = 0
  while (!isOver) if (!contents.includes(await readIfThere(target))) broken++
  await replacing
  if (broken === 0) return finding('ok', 'renaming', 'replaces a file in one step')
  const message = `a file was missing or not whole ${broken} times while it was replaced ${renames} times`
  const remedy = 'Choose a directory on another file system; readers could get half of a file.'
  return finding('problem', 'renaming', message, remedy)
}

async function readIfThere(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    if (isSystemError(error, 'ENOENT', 'ESTALE')) return ''
    throw error
  }
}

async function tryLinking(directory: string): Promise<Finding> {
  const [one, other] = [join(directory, 'one'), join(directory, 'other')]
  await writeFile(one, '')
  const remedy = 'Choose a directory on another file system, such as ext4, XFS, Btrfs or ZFS.'
  try {
    await link(one, other)
  } catch (error) {
    if (!isSystemError(error, 'EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS')) throw error
    return finding('problem', 'hard links', 'there are none, and holdfast needs them', remedy)
  }
  const isKept = await link(one, other).then(
    () => false,
    (error: unknown) => isSystemError(error, 'EEXIST'),
  )
  if (isKept) return finding('ok', 'hard links', 'work, and never replace a file')
  const message = 'a new link replaces an existing file, so create-only uploads would replace files'
  return finding('problem', 'hard links', message, remedy)
}

/**
 * Whether files can be named in the mode `names`, or a mode can be chosen if that is `undefined`. `unkept` is a name that the file system
 * does not keep; `undefined` if it keeps all.
 */
export function namesFinding(unkept: string | undefined, names: NamesMode | undefined): Finding {
  if (unkept === undefined) {
    return finding('ok', 'names', 'all are kept apart: case, accents, dots and blanks, 255 bytes')
  }
  const example = unkept.length > 20 ? `one of ${Buffer.byteLength(unkept)} bytes` : `"${unkept}"`
  const message = `this file system does not keep all names as they are, such as ${example}`
  if (names !== 'plain')
    return finding('ok', 'names', `${message}; they are written in a safe form`)
  const remedy =
    'Move the directory to a file system that does, such as ext4; the server refuses it here.'
  return finding('problem', 'names', message, remedy)
}

/** Whether a file that is written in `directory` gets the time of this machine. */
async function tryClock(directory: string): Promise<Finding> {
  const path = join(directory, 'clock')
  const begin = Date.now()
  await writeFile(path, '')
  const end = Date.now()
  return clockFinding((await stat(path)).mtimeMs, { begin, end })
}

/** Milliseconds that a file's time may be off: kernels round, and some file systems keep even seconds only. */
const tolerance = 2_000

/** Compares the time of a file, written between `begin` and `end`, with this machine's clock; in milliseconds. */
export function clockFinding(
  fileTime: number,
  { begin, end }: { readonly begin: number; readonly end: number },
): Finding {
  const early = begin - fileTime
  const late = fileTime - end
  const off = Math.max(early, late)
  if (off <= tolerance) return finding('ok', 'file times', 'are those of this machine')
  const direction = early > late ? 'behind' : 'ahead of'
  const message = `the clock of the file system is ${(off / 1000).toFixed(0)} s ${direction} that of this machine`
  const remedy = 'Set both by NTP; on this machine: timedatectl set-ntp true'
  return finding('warning', 'file times', message, remedy)
}
