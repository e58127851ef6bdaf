import { writeFile } from 'node:fs'
import { link, readFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { promisify } from 'node:util'
import { SetupError } from '@holdfast/core'
import { changeDurably } from '../files/change-durably.ts'
import { crashPoint } from '../files/crash-point.ts'
import { pooledCalls } from '../files/file-calls.ts'
import { isSystemError } from '../files/translate-fs-error.ts'
import type { TemporaryFile } from '../temp/temp-directory.ts'
import type { NamesMode } from './layout.ts'

/** The version of the layout that this code reads and writes. */
export const layoutVersion = 1

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
