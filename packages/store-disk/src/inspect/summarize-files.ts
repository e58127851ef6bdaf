import { isUtf8 } from 'node:buffer'
import type { Stats } from 'node:fs'
import { access, constants, lstat, readdir, stat } from 'node:fs/promises'
import type { Layout } from '../directory/layout.ts'
import { isAbsence, isSystemError } from '../files/system-error.ts'
import type { Census, Oddity, OddEntries } from './files-summary.ts'

export interface CensusOptions {
  /** The most entries to look at. */
  readonly most: number
  /** Of the data directory: what entries should have in common with it. */
  readonly uid: number
  readonly device: number
  readonly signal?: AbortSignal | undefined
}

/** Milliseconds by which a file's time may be ahead of the clock. */
const clockTolerance = 60_000

interface Tally {
  customers: number
  files: number
  bytes: number
  left: number
  readonly odd: Map<Oddity, OddEntries>
}

/**
 * Counts what lies below the root of `layout`, up to a number of entries, and what is odd about it. Looks at names,
 * owners and rights, and opens no file. What comes or goes meanwhile may be counted or not.
 */
export async function takeCensus(layout: Layout, options: CensusOptions): Promise<Census> {
  const tally: Tally = { customers: 0, files: 0, bytes: 0, left: options.most, odd: new Map() }
  const isComplete = await walk(layout.root, [], 'customers', { layout, options, tally })
  const { customers, files, bytes, odd } = tally
  return { customers, files, bytes, isComplete, odd }
}

interface Walk {
  readonly layout: Layout
  readonly options: CensusOptions
  readonly tally: Tally
}

/** Whether it came to the end. `components` are those of a name so far, in an escaped layout. */
async function walk(
  directory: string,
  components: readonly string[],
  level: 'customers' | 'files',
  context: Walk,
): Promise<boolean> {
  const { tally, options } = context
  for (const entry of await entriesOf(directory, tally)) {
    options.signal?.throwIfAborted()
    if (tally.left-- <= 0) return false
    const path = `${directory}/${entry.toString()}`
    if (!isUtf8(entry)) note(tally, 'foreign', path)
    else if (!(await look(path, [...components, entry.toString()], level, context))) return false
  }
  return true
}

async function look(
  path: string,
  components: readonly string[],
  level: 'customers' | 'files',
  context: Walk,
): Promise<boolean> {
  const { layout, tally, options } = context
  // A link in place of a customer's directory is followed, in place of a file it is not.
  const stats = await (level === 'customers' ? stat : lstat)(path).catch(passingOverAbsence)
  if (!stats) {
    if (level === 'customers') note(tally, 'foreign', path)
    return true
  }
  const isDirectory = stats.isDirectory()
  if (isDirectory && layout.holdsMore(components.at(-1) ?? '')) {
    return walk(path, components, level, context)
  }
  const isNamed = layout.nameAt(components) !== undefined
  const isWanted = level === 'customers' ? isDirectory : stats.isFile()
  if (!isNamed || !isWanted) {
    note(tally, 'foreign', path)
    return true
  }
  if (stats.uid !== options.uid) note(tally, 'strange owner', path)
  if (level === 'files') {
    await countFile(path, stats, tally)
    return true
  }
  tally.customers++
  await judgeDirectory(path, stats, context)
  return walk(path, [], 'files', context)
}

async function countFile(path: string, { size, mtimeMs }: Stats, tally: Tally): Promise<void> {
  tally.files++
  tally.bytes += size
  if (mtimeMs > Date.now() + clockTolerance) note(tally, 'future', path)
  if (!(await may(path, constants.R_OK))) note(tally, 'unreadable', path)
}

async function judgeDirectory(path: string, { dev }: Stats, { tally, options }: Walk) {
  if (dev !== options.device) note(tally, 'elsewhere', path)
  else if (!(await may(path, constants.W_OK | constants.X_OK))) note(tally, 'unwritable', path)
}

async function may(path: string, mode: number): Promise<boolean> {
  try {
    await access(path, mode)
    return true
  } catch (error) {
    return isAbsence(error)
  }
}

/** In no order. What may not be listed is noted and has none. */
async function entriesOf(directory: string, tally: Tally): Promise<readonly Buffer[]> {
  try {
    return await readdir(directory, { encoding: 'buffer' })
  } catch (error) {
    if (isSystemError(error, 'EACCES', 'EPERM')) note(tally, 'unreadable', directory)
    else if (!isAbsence(error)) throw error
    return []
  }
}

function passingOverAbsence(error: unknown): undefined {
  if (!isAbsence(error) && !isSystemError(error, 'ELOOP', 'EACCES')) throw error
}

function note(tally: Tally, oddity: Oddity, path: string): void {
  const { count = 0, example = path } = tally.odd.get(oddity) ?? {}
  tally.odd.set(oddity, { count: count + 1, example })
}
