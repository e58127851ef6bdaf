import { randomUUID } from 'node:crypto'
import { readdir, rm, mkdir, writeFile, rmdir } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { SetupError } from '@holdfast/core'
import { changeDurably } from '../files/change-durably.ts'
import { crashPoint } from '../files/crash-point.ts'
import {
  createFileCalls,
  pooledCalls,
  type FileCalls,
  createLatencyBreaker,
  isSystemError,
} from '../files/file-calls.ts'
import {
  directoryMode,
  isLocal,
  keepsOrder,
  replacesInPlace,
  makeDirectories,
} from '../files/file-system.ts'
import { createReplacementJournal, type ReplacementJournal } from '../temp/replacement-journal.ts'
import { openTempDirectory, type TempDirectory, type WarningLog } from '../temp/temp-directory.ts'
import {
  createLayoutFile,
  readLayoutFile,
  type LayoutFile,
  createMountCheck,
  type MountCheck,
} from './layout-file.ts'
import { createLayout, type Layout, type NamesMode } from './layout.ts'

/** A directory that a store may work in. */
export interface DataDirectory {
  /** Its path. */
  readonly path: string
  readonly layout: Layout
  /** The layout of uploads in pieces. */
  readonly uploads: Layout
  /** The layout of the directories of names that have, or had, versions. */
  readonly versions: Layout
  /** The layout of the generations of links. */
  readonly links: Layout
  /** The layout of the notes on expiry. */
  readonly expiry: Layout
  /**
   * Makes the directories of uploads in pieces, versions, link generations and expiry notes. The first of each kind also makes its top
   * directory.
   */
  readonly metadataDirectories: DurableDirectories
  readonly directories: DurableDirectories
  readonly tempDirectory: TempDirectory
  readonly checkMount: MountCheck
  /** Records replaced files; `undefined` where a replaced file keeps its directory entry. */
  readonly journal: ReplacementJournal | undefined
  /** Whether it is known to lie on this machine. */
  readonly isLocal: boolean
  /** Whether a change of its entries that survives a power cut proves that all earlier ones do. */
  readonly keepsOrder: boolean
  /** For all work in the directory. */
  readonly calls: FileCalls
}

/** What a directory may hold before it is a store's: `tmp` of another process that starts, and what ext4 puts at the top of a disk. */
const harmless = ['tmp', 'lost+found']

/**
 * Opens `directory`, as a new one if it is missing or empty.
 *
 * @throws Error that says what to do, if the directory holds something else, has a newer layout, or was moved to a file
 * system that does not keep its names apart.
 */
export async function openDataDirectory(
  directory: string,
  namesIfNew: NamesMode | undefined,
  log: WarningLog,
): Promise<DataDirectory> {
  const data = resolve(directory)
  const layoutFilePath = join(data, 'holdfast.json')
  await createDurably(data)
  const existing = await identifyDirectory(data)
  const isOnThisMachine = await isLocal(data)
  const calls = isOnThisMachine ? createFileCalls(createLatencyBreaker()) : pooledCalls
  let checkMount: MountCheck = async () => {}
  const tempDirectory = await openTempDirectory(join(data, 'tmp'), log, () => checkMount(), calls)
  try {
    const isPlainSafe = await keepsNamesApart(tempDirectory.path)
    const layoutFile =
      existing ??
      (await initialise(layoutFilePath, namesIfNew ?? modeFor(isPlainSafe), tempDirectory))
    if (layoutFile.names === 'plain' && !isPlainSafe) throw foldsNames(data)
    const files = join(data, 'files')
    await createDurableDirectories(data, checkMount).ensure(files)
    checkMount = createMountCheck(data, files, layoutFile)
    const directories = createDurableDirectories(files, checkMount)
    crashPoint('opened')
    const layout = createLayout(files, layoutFile.names)
    const journal = (await replacesInPlace(files))
      ? undefined
      : createReplacementJournal(files, tempDirectory, calls)
    return {
      path: data,
      uploads: createLayout(join(data, 'uploads'), layoutFile.names),
      versions: createLayout(join(data, 'versions'), layoutFile.names),
      links: createLayout(join(data, 'links'), layoutFile.names),
      expiry: createLayout(join(data, 'expiry'), layoutFile.names),
      metadataDirectories: createDurableDirectories(data, checkMount),
      ...{ layout, directories, tempDirectory, journal, checkMount, calls },
      isLocal: isOnThisMachine,
      keepsOrder: await keepsOrder(files),
    }
  } catch (error) {
    await tempDirectory.close()
    throw error
  }
}

/**
 * Reads the layout file of the directory `data`; `undefined` if the directory is empty and can become a store's.
 *
 * @throws Error that says what to do, if it holds something else, has a newer layout, or its layout file is damaged
 */
export async function identifyDirectory(data: string): Promise<LayoutFile | undefined> {
  const layoutFile = await readLayoutFile(join(data, 'holdfast.json'))
  if (!layoutFile) await refuseForeign(data)
  return layoutFile
}

function modeFor(isPlainSafe: boolean): NamesMode {
  return isPlainSafe ? 'plain' : 'escaped'
}

/** Writes the layout file of a new directory, and reads it back: another process may have written it first. */
async function initialise(
  path: string,
  names: NamesMode,
  tempDirectory: TempDirectory,
): Promise<LayoutFile> {
  const temporary = await tempDirectory.createTemporaryFile()
  await createLayoutFile(path, { names, id: randomUUID() }, temporary)
  await rm(temporary.path)
  return (await readLayoutFile(path)) ?? { names }
}

async function createDurably(data: string): Promise<void> {
  const missing = await makeDirectories(data).catch((error: unknown) => {
    throw isSystemError(error, 'EEXIST', 'ENOTDIR') ? fileInPlace(data, error) : error
  })
  for (const made of missing) {
    await changeDurably(dirname(made), async () => crashPoint('data-directory-made'))
  }
}

async function refuseForeign(data: string): Promise<void> {
  const [foreign] = (await readdir(data)).filter((entry) => !harmless.includes(entry))
  // Another process may have made the layout file in the meantime.
  if (foreign === undefined || (await readLayoutFile(join(data, 'holdfast.json')))) return
  throw new SetupError(
    `The directory ${data} is not empty (it has "${foreign}") and not a holdfast directory: it has no holdfast.json`,
    ['Choose a new or empty directory; if this is a restored backup, restore holdfast.json too.'],
  )
}

function fileInPlace(data: string, cause: Error): SetupError {
  const reason = isSystemError(cause, 'EEXIST') ? 'it is a file' : 'a part of its path is a file'
  return new SetupError(
    `The directory ${data} cannot be used, since ${reason}`,
    ['Choose another one.'],
    cause,
  )
}

function foldsNames(data: string): SetupError {
  return new SetupError(
    `The directory ${data} keeps files under plain names, and the file system it lies on does not keep all names apart`,
    [
      'Move it to a file system that does, such as ext4, or upload the files to a holdfast with a new directory here.',
    ],
  )
}

/** Each of these names is folded, changed, shortened, refused or misread by some file system. */
const trialNames = [
  'a',
  'A',
  '\u00e9',
  'e\u0301',
  'k',
  '\u212a',
  'dot.',
  'dot',
  'space ',
  'space',
  'con',
  'a:b',
  'back\\slash',
  'all*?"<>|',
  '\ufeffmark',
  '\u{1f600}',
  'x'.repeat(255),
  '\u6f22'.repeat(85),
]

/** The errors of file systems for a name that exists or that they refuse. */
const refusals = ['EEXIST', 'EINVAL', 'EILSEQ', 'ENAMETOOLONG', 'ENOENT', 'EISDIR', 'EPERM']

/**
 * Whether the file system below `directory` keeps every name that the core allows, unchanged and distinct from all others. It tries real
 * files: the answer depends on the mount, not on the operating system.
 */
async function keepsNamesApart(directory: string): Promise<boolean> {
  return (await findUnkeptName(directory)) === undefined
}

/** The first name that the file system below `directory` refuses, changes or takes for another one; usually `undefined`. */
export async function findUnkeptName(directory: string): Promise<string | undefined> {
  const trial = join(directory, 'names')
  await mkdir(trial)
  try {
    for (const name of trialNames) if (await isRefused(join(trial, name))) return name
    const kept = new Set(await readdir(trial))
    crashPoint('name-trial-written')
    return trialNames.find((name) => !kept.has(name))
  } finally {
    await rm(trial, { recursive: true })
  }
}

async function isRefused(path: string): Promise<boolean> {
  try {
    await writeFile(path, '', { flag: 'wx' })
    return false
  } catch (error) {
    if (isSystemError(error, ...refusals)) return true
    throw error
  }
}

/** Makes directories below a root durably, and remembers which ones are durable. */
export interface DurableDirectories {
  /** Resolves when `directory`, the root or one below it, exists and survives a power cut. */
  ensure(directory: string): Promise<void>
  /**
   * Makes `directory` if needed, then runs `change`. If an administrator removes the directory meanwhile, or one above it, does both
   * again.
   */
  within(directory: string, change: () => Promise<void>): Promise<void>
}

/** Enough for every active customer; more would only take memory. */
const maxRemembered = 10_000

/** Makes directories below `root`, which exists. It waits for `check` before it makes one. */
function createDurableDirectories(root: string, check: MountCheck): DurableDirectories {
  const known = new Map<string, Promise<void>>()

  const create = async (directory: string) => {
    const parent = dirname(directory)
    await ensure(parent)
    await check()
    const outcome = { isMade: false }
    try {
      // Also sync a directory that existed: the process that made it may not have synced it yet, and a power cut would
      // remove it with the file in it.
      await changeDurably(parent, async () => {
        outcome.isMade = await makeDirectory(directory)
      })
    } catch (error) {
      // A failed sync drops the change, and no later sync writes it. To make the directory again is a new change.
      if (outcome.isMade) await rmdir(directory).catch(() => {})
      throw error
    }
    crashPoint('directory-synced')
  }

  const ensure = async (directory: string): Promise<void> => {
    if (directory === root) return
    if (known.size > maxRemembered) known.clear()
    const creation = known.get(directory) ?? create(directory)
    known.set(directory, creation)
    await creation.catch((error: unknown) => {
      known.delete(directory)
      throw error
    })
  }

  return {
    ensure,
    async within(directory, change) {
      await ensure(directory)
      try {
        await change()
      } catch (error) {
        if (!isSystemError(error, 'ENOENT')) throw error
        known.clear()
        await ensure(directory)
        await change()
      }
    },
  }
}

/** Resolves with `false` if it existed. */
async function makeDirectory(directory: string): Promise<boolean> {
  try {
    await mkdir(directory, { mode: directoryMode })
    crashPoint('directory-made')
    return true
  } catch (error) {
    if (isSystemError(error, 'EEXIST')) return false
    throw error
  }
}
