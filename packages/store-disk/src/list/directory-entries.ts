import type { Dir, Dirent } from 'node:fs'
import { lstat, opendir, readdir } from 'node:fs/promises'
import { sep } from 'node:path'
import { isAbsence, undefinedIfAbsent } from '../files/file-calls.ts'

/** An entry of a directory. */
export interface DirectoryEntry {
  /** The bytes of its name, one character each (Latin-1), since they need not be UTF-8. */
  readonly name: string
  isFile(): boolean
  isDirectory(): boolean
  isSymbolicLink(): boolean
}

/**
 * The entries of `directory`, in no order; none if it does not exist. In batches: a promise for each entry would take longer than reading
 * it.
 */
export type EntriesOf = (directory: string) => AsyncIterable<readonly DirectoryEntry[]>

/**
 * Resolves with the result of `walk`. If the file system does not report the types of entries and Node.js fails to look one up, calls
 * `walk` again, with entries that are inspected one by one.
 */
export async function withEntries<T>(walk: (entriesOf: EntriesOf) => Promise<T>): Promise<T> {
  try {
    return await walk(typedEntriesOf)
  } catch (error) {
    if (!isTypeUnknown(error)) throw error
    return walk(inspectedEntriesOf)
  }
}

function isTypeUnknown(error: unknown): boolean {
  return (
    isAbsence(error) && error instanceof Error && 'syscall' in error && error.syscall === 'lstat'
  )
}

/** Entries in a batch: few enough for other work to go on, which with 4,096 waited up to 90 ms. */
const batchLength = 1024

/** In Deno, `opendir` ignores the encoding; `readSync` on its result starts again, and leaves the directory open. */
const isDeno = 'Deno' in globalThis

/** Fails if the file system does not report the type of an entry that is gone, or whose name is not ASCII. */
async function* typedEntriesOf(directory: string): AsyncGenerator<readonly DirectoryEntry[]> {
  if (isDeno) {
    yield* entriesReadAtOnce(directory)
    return
  }
  const opened = await openIfThere(directory)
  if (!opened) return
  let first: Promise<Dirent | null> | undefined
  try {
    first = opened.read()
    while (true) {
      const batch = readBatch(opened, await first)
      // A short batch is the last one. After a full one, the system reads on while the caller uses it.
      const isLast = batch.length < batchLength
      if (!isLast) first = opened.read()
      yield batch
      if (isLast) return
    }
  } finally {
    await first?.catch(() => {})
    // This waits for no disk, and takes less time than to wake a thread of the pool.
    opened.closeSync()
  }
}

/** The batch that begins with `first`. Reading `first` fetched the whole batch, so the other reads return at once from memory. */
function readBatch(directory: Dir, first: Dirent | null): readonly DirectoryEntry[] {
  const batch: DirectoryEntry[] = []
  for (let entry = first; entry;) {
    batch.push(entry)
    if (batch.length === batchLength) break
    entry = directory.readSync()
  }
  return batch
}

async function openIfThere(directory: string): Promise<Dir | undefined> {
  return opendir(directory, { encoding: 'latin1', bufferSize: batchLength }).catch(
    undefinedIfAbsent,
  )
}

async function* entriesReadAtOnce(directory: string): AsyncGenerator<readonly DirectoryEntry[]> {
  const options = { encoding: 'latin1', withFileTypes: true } as const
  const entries = await readdir(directory, options).catch(emptyIfAbsent)
  for (let at = 0; at < entries.length; at += batchLength) yield entries.slice(at, at + batchLength)
}

/** Entries inspected at a time: enough to keep the disk busy, and few enough for other requests to go on. */
const concurrency = 16

/** The results of `work` for each item, in order. It works on 16 items at a time. */
export async function concurrently<Item, Result>(
  items: readonly Item[],
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = []
  const rest = items.entries()
  const worker = async () => {
    for (const [index, item] of rest) results[index] = await work(item)
  }
  await Promise.all(Array.from({ length: Math.min(concurrency, items.length) }, worker))
  return results
}

/** Reads all names first, since Node.js cannot read names in batches without their types. */
async function* inspectedEntriesOf(directory: string): AsyncGenerator<readonly DirectoryEntry[]> {
  const names = await namesIn(directory)
  for (let at = 0; at < names.length; at += concurrency) {
    const looks = names.slice(at, at + concurrency).map((name) => look(directory, name))
    yield (await Promise.all(looks)).filter((entry) => entry !== undefined)
  }
}

async function namesIn(directory: string): Promise<readonly string[]> {
  return readdir(directory, { encoding: 'latin1' }).catch(emptyIfAbsent)
}

function emptyIfAbsent(error: unknown): [] {
  if (isAbsence(error)) return []
  throw error
}

async function look(directory: string, name: string): Promise<DirectoryEntry | undefined> {
  const path = Buffer.concat([Buffer.from(directory + sep), Buffer.from(name, 'latin1')])
  const stats = await lstat(path).catch(undefinedIfAbsent)
  return stats && Object.assign(stats, { name })
}
