import { isUtf8 } from 'node:buffer'
import type { Stats } from 'node:fs'
import { access, constants, lstat, readdir, stat } from 'node:fs/promises'
import { finding, formatBytes, type Finding } from '@holdfast/core'
import type { Layout } from '../directory/layout.ts'
import { isAbsence, isSystemError } from '../files/file-calls.ts'
import { shellWord } from './findings.ts'

export interface SummaryOptions {
  /** The most entries to inspect. */
  readonly most: number
  /** The owner of the data directory, who should own the entries, too. */
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
 * Counts the entries below the root of `layout`, up to a number of them, and the odd ones among them. It checks names, owners and
 * permissions, and opens no file. It may miss entries that are made or removed meanwhile.
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

/** The entries, in no order. A directory that may not be listed is noted, and has none. */
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

/** The ways in which an entry of a data directory can be odd. */
const oddities = [
  'foreign',
  'unreadable',
  'unwritable',
  'strange owner',
  'elsewhere',
  'future',
] as const

export type Oddity = (typeof oddities)[number]

/** Entries that are odd in one way. */
interface OddEntries {
  readonly count: number
  /** The path of the first one. */
  readonly example: string
}

/** The counters of the files of all customers. */
export interface FilesSummary {
  readonly customers: number
  readonly files: number
  readonly bytes: number
  /** Whether all entries were inspected. */
  readonly isComplete: boolean
  readonly odd: ReadonlyMap<Oddity, OddEntries>
}

interface Judgement {
  readonly check: string
  readonly mark: 'warning' | 'problem'
  readonly message: string
  readonly remedy: (files: string, uid: number) => string
}

const judgements: Readonly<Record<Oddity, Judgement>> = {
  foreign: {
    check: 'foreign entries',
    mark: 'warning',
    message: 'no file of holdfast, and not shown',
    remedy: (files) => `Look at links, pipes and the like: find ${files} ! -type f ! -type d -ls`,
  },
  unreadable: {
    check: 'reading',
    mark: 'problem',
    message: 'not readable for this user; downloads of it fail',
    remedy: (files, uid) => `chown -R ${uid} ${files} && chmod -R u+rwX ${files}`,
  },
  unwritable: {
    check: 'writing',
    mark: 'problem',
    message: 'not writable for this user; uploads of that customer fail',
    remedy: (files, uid) => `chown -R ${uid} ${files} && chmod -R u+rwX ${files}`,
  },
  'strange owner': {
    check: 'owners',
    mark: 'warning',
    message: 'of another owner than the data directory',
    remedy: (files, uid) => `chown -R ${uid} ${files}`,
  },
  elsewhere: {
    check: 'one disk',
    mark: 'problem',
    message: 'on another file system than the data directory; uploads of that customer fail',
    remedy: (files) => `Move the files into a directory here; see: df ${files}/*`,
  },
  future: {
    check: 'times of files',
    mark: 'warning',
    message: 'changed in the future, by its time; clients may keep old copies',
    remedy: (files) => `find ${files} -type f -newermt now -exec touch {} +`,
  },
}

/** The findings of `summary`, of the directory `files`, which belongs to `uid`. */
export function summaryFindings(
  summary: FilesSummary,
  files: string,
  uid: number,
): readonly Finding[] {
  const found = oddities.flatMap((oddity) => {
    const odd = summary.odd.get(oddity)
    if (!odd) return []
    const { check, mark, message, remedy } = judgements[oddity]
    const what = odd.count === 1 ? odd.example : `${count(odd.count)}, such as ${odd.example}:`
    return [finding(mark, check, `${what} ${message}`, remedy(shellWord(files), uid))]
  })
  return [total(summary), ...found]
}

function total({ files, customers, bytes, isComplete }: FilesSummary): Finding {
  const looked = isComplete ? 'all looked at' : 'not all were looked at'
  const message = `${count(files)} file(s) of ${count(customers)} customer(s), ${formatBytes(bytes)}; ${looked}`
  return finding('ok', 'files', message)
}

function count(number: number): string {
  return number.toLocaleString('en')
}
