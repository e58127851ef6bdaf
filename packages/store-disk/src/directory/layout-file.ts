import { writeFile, constants } from 'node:fs'
import { link, readFile, access, realpath, stat } from 'node:fs/promises'
import { dirname, join, sep } from 'node:path'
import { promisify } from 'node:util'
import { SetupError, FileServiceError } from '@holdfast/core'
import { changeDurably } from '../files/change-durably.ts'
import { crashPoint } from '../files/crash-point.ts'
import { pooledCalls, isSystemError, isAbsence, translateFsError } from '../files/file-calls.ts'
import { findMount } from '../files/file-system.ts'
import type { TemporaryFile } from '../temp/temp-directory.ts'
import type { NamesMode } from './layout.ts'

/** The version of the layout that this code reads and writes. */
const layoutVersion = 1

/** The content of `holdfast.json`, which describes the layout of its data directory. */
export interface LayoutFile {
  readonly names: NamesMode
  /** Identifies the directory and its copies; `undefined` if an administrator wrote the file by hand. */
  readonly id?: string | undefined
}

/**
 * Reads the layout file at `path`; `undefined` if there is none.
 *
 * @throws Error that says what to do, if the layout is newer than this code or the file is damaged.
 */
export async function readLayoutFile(path: string): Promise<LayoutFile | undefined> {
  const text = await readIfThere(path)
  if (text === undefined) return undefined
  const { layout, names, id } = parse(text)
  const directory = dirname(path)
  if (typeof layout === 'number' && layout > layoutVersion) {
    throw new SetupError(
      `The directory ${directory} has layout version ${layout}, and this holdfast knows version ${layoutVersion} at most`,
      ['Start the newer holdfast that wrote it, or choose another directory.'],
    )
  }
  if (layout !== layoutVersion || (names !== 'plain' && names !== 'escaped')) {
    throw new SetupError(`The layout file ${path} is damaged`, [
      `Restore it from a backup: ${example}`,
    ])
  }
  return { names, id: typeof id === 'string' ? id : undefined }
}

const example = `for a directory on Linux it reads {"layout":${layoutVersion},"names":"plain"} as a rule.`

/**
 * Writes the layout file at `path` durably and atomically, unless another process was first.
 *
 * @throws Error that says what to do, if the file system has no hard links, which create-only uploads need.
 */
export async function createLayoutFile(
  path: string,
  contents: LayoutFile,
  temporary: TemporaryFile,
): Promise<void> {
  await fill(temporary.file, JSON.stringify({ layout: layoutVersion, ...contents }) + '\n')
  crashPoint('marker-written')
  try {
    await changeDurably(dirname(path), async () => {
      await link(temporary.path, path)
      crashPoint('marker-linked')
    })
    crashPoint('marker-synced')
  } catch (cause) {
    if (isSystemError(cause, 'EEXIST')) return
    if (!isSystemError(cause, 'EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS')) throw cause
    throw new SetupError(
      `The file system of ${dirname(path)} has no hard links, which holdfast needs`,
      ['Choose a directory on another one.'],
      cause,
    )
  }
}

async function fill(file: number, text: string): Promise<void> {
  try {
    await promisify(writeFile)(file, text)
    await pooledCalls.sync(file)
  } finally {
    await pooledCalls.close(file)
  }
}

async function readIfThere(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    if (isSystemError(error, 'ENOENT')) return undefined
    throw error
  }
}

function parse(text: string): { layout?: unknown; names?: unknown; id?: unknown } {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? value : {}
  } catch {
    return {}
  }
}

/**
 * Resolves if the data directory exists and is still the one that was opened. Only then a missing file is really missing: the mount point
 * of an unmounted file system is an empty directory, or an older one, and Btrfs shows directories without their newest entries once its
 * disk has failed.
 *
 * @throws FileServiceError `store-unavailable` if it is gone, another store is in its place, or the kernel has made it read-only
 */
export type MountCheck = () => Promise<void>

/** Checks the data directory `data`, whose layout file was `opened`, and its directory `files`. */
export function createMountCheck(data: string, files: string, opened: LayoutFile): MountCheck {
  const layoutFilePath = join(data, 'holdfast.json')
  let checked: string | undefined

  const compare = async (): Promise<void> => {
    const [signature] = await Promise.all([
      signatureOf(layoutFilePath),
      checkDirectory(join(files, sep)),
    ])
    // Reads the layout file only if its stats have changed: a remounted or restored directory may have other inodes.
    if (signature === checked) return
    const layoutFile = await readLayoutFile(layoutFilePath)
    if (layoutFile?.id !== opened.id || layoutFile?.names !== opened.names) throw replaced(data)
    checked = signature
  }

  return async () => {
    try {
      await translateFsError(compare())
    } catch (cause) {
      if (!isAbsence(cause)) throw cause
      const message = `The directory ${data} has lost holdfast.json or files: is its file system mounted?`
      throw new FileServiceError('store-unavailable', message, { cause })
    }
  }
}

async function signatureOf(path: string): Promise<string> {
  const { ino, size, mtimeNs } = await stat(path, { bigint: true })
  return [ino, size, mtimeNs].join('-')
}

/** Rejects if there is no directory at `path`, or the kernel has made its file system read-only: it may then hide entries. */
async function checkDirectory(path: string): Promise<void> {
  try {
    await access(path, constants.W_OK)
  } catch (error) {
    const isReadOnly = isSystemError(error, 'EROFS')
    if (isReadOnly && (await findMount(await realpath(path)))?.isForcedReadOnly) throw error
    // An administrator may have made it read-only on purpose: downloads go on.
    await stat(path)
  }
}

function replaced(data: string): FileServiceError {
  const message = `The directory ${data} is not the one that was opened. Put that one back, or restart to use this one`
  return new FileServiceError('store-unavailable', message)
}
