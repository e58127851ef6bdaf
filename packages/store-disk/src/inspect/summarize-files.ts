import { isUtf8 } from 'node:buffer'
import type { Stats } from 'node:fs'
import { access, constants, lstat, readdir, stat } from 'node:fs/promises'
import type { Layout } from '../directory/layout.ts'
import { isAbsence, isSystemError } from '../files/system-error.ts'
import type { FilesSummary, Oddity, OddEntries } from './files-summary.ts'

export interface SummaryOptions {
  /** The most entries to inspect. */
  readonly most: number
  /** The owner of the data directory, which entries should have, too. */
  readonly uid: number
  readonly device: number
  readonly signal?: AbortSignal | undefined
}

/** Milliseconds by which a file's time may be ahead of the clock. */
const clockTolerance = 60_000

interface Counters {
  customers: number
  files: number
  bytes: number
  left: number
  readonly odd: Map<Oddity, OddEntries>
}

/**
 * Counts the entries below the root of `layout`, up to a number of them, and the odd ones among them. It inspects names,
 * owners and permissions, and opens no file. It may or may not count entries that are made or removed meanwhile.
 */
export async function summarizeFiles(
  layout: Layout,
  options: SummaryOptions,
): Promise<FilesSummary> {
  const counters: Counters = {
    customers: 0,
    files: 0,
    bytes: 0,
    left: options.most,
    odd: new Map(),
  }
  const isComplete = await walk(layout.root, [], 'customers', { layout, options, counters })
  const { customers, files, bytes, odd } = counters
  return { customers, files, bytes, isComplete, odd }
}

interface Walk {
  readonly layout: Layout
  readonly options: SummaryOptions
  readonly counters: Counters
}

/** Resolves with whether it reached the end. `components` are those of a name so far, in an escaped layout. */
async function walk(
  directory: string,
  components: readonly string[],
  level: 'customers' | 'files',
  context: Walk,
): Promise<boolean> {
  const { counters, options } = context
  for (const entry of await entriesOf(directory, counters)) {
    options.signal?.throwIfAborted()
    if (counters.left-- <= 0) return false
    const path = `${directory}/${entry.toString()}`
    if (!isUtf8(entry)) note(counters, 'foreign', path)
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
  const { layout, counters, options } = context
  // The store follows a link in place of a customer's directory, but not one in place of a file.
  const stats = await (level === 'customers' ? stat : lstat)(path).catch(ignoreAbsence)
  if (!stats) {
    if (level === 'customers') note(counters, 'foreign', path)
    return true
  }
  const isDirectory = stats.isDirectory()
  if (isDirectory && layout.holdsMore(components.at(-1) ?? '')) {
    return walk(path, components, level, context)
  }
  const isNamed = layout.nameAt(components) !== undefined
  const isWanted = level === 'customers' ? isDirectory : stats.isFile()
  if (!isNamed || !isWanted) {
    note(counters, 'foreign', path)
    return true
  }
  if (stats.uid !== options.uid) note(counters, 'strange owner', path)
  if (level === 'files') {
    await countFile(path, stats, counters)
    return true
  }
  counters.customers++
  await judgeDirectory(path, stats, context)
  return walk(path, [], 'files', context)
}

async function countFile(
  path: string,
  { size, mtimeMs }: Stats,
  counters: Counters,
): Promise<void> {
  counters.files++
  counters.bytes += size
  if (mtimeMs > Date.now() + clockTolerance) note(counters, 'future', path)
  if (!(await may(path, constants.R_OK))) note(counters, 'unreadable', path)
}

async function judgeDirectory(path: string, { dev }: Stats, { counters, options }: Walk) {
  if (dev !== options.device) note(counters, 'elsewhere', path)
  else if (!(await may(path, constants.W_OK | constants.X_OK))) note(counters, 'unwritable', path)
}

async function may(path: string, mode: number): Promise<boolean> {
  try {
    await access(path, mode)
    return true
  } catch (error) {
    return isAbsence(error)
  }
}

/** The entries, in no order; none of a directory that may not be listed, which is noted. */
async function entriesOf(directory: string, counters: Counters): Promise<readonly Buffer[]> {
  try {
    return await readdir(directory, { encoding: 'buffer' })
  } catch (error) {
    if (isSystemError(error, 'EACCES', 'EPERM')) note(counters, 'unreadable', directory)
    else if (!isAbsence(error)) throw error
    return []
  }
}

function ignoreAbsence(error: unknown): undefined {
  if (!isAbsence(error) && !isSystemError(error, 'ELOOP', 'EACCES')) throw error
}

function note(counters: Counters, oddity: Oddity, path: string): void {
  const { count = 0, example = path } = counters.odd.get(oddity) ?? {}
  counters.odd.set(oddity, { count: count + 1, example })
}
