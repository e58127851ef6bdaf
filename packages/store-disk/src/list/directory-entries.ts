import type { Dir } from 'node:fs'
import { lstat, opendir, readdir } from 'node:fs/promises'
import { sep } from 'node:path'
import { isAbsence } from '../files/system-error.ts'

/** Something in a directory. */
export interface Entry {
  /** The bytes of its name, each a character (Latin-1), since they need not be UTF-8. */
  readonly name: string
  isFile(): boolean
  isDirectory(): boolean
  isSymbolicLink(): boolean
}

/**
 * What is in `directory`, in no order; nothing where there is no such directory. In batches: a promise for each entry
 * would take longer than reading it.
 */
export type EntriesOf = (directory: string) => AsyncIterable<readonly Entry[]>

/**
 * What `walk` comes to with entries as the file system tells them; or, where that leaves out what kind they are and
 * Node.js fails to find out, with entries that are looked at one by one.
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

/** Entries read at a time: with so many it is as fast as reading all at once, and needs little memory. */
const batchLength = 1024

/** Fails where the kind of an entry is not told, and the entry gone meanwhile, or its name more than ASCII. */
async function* typedEntriesOf(directory: string): AsyncGenerator<readonly Entry[]> {
  const opened = await openIfThere(directory)
  if (!opened) return
  try {
    let batch: readonly Entry[]
    do {
      batch = await readBatch(opened)
      yield batch
    } while (batch.length === batchLength)
  } finally {
    await opened.close()
  }
}

/** A short batch is the last one. */
async function readBatch(directory: Dir): Promise<readonly Entry[]> {
  const batch: Entry[] = []
  // All of them are read with the first; the others are there already, and taken without waiting.
  let entry = await directory.read()
  while (entry) {
    batch.push(entry)
    if (batch.length === batchLength) break
    entry = directory.readSync()
  }
  return batch
}

async function openIfThere(directory: string): Promise<Dir | undefined> {
  try {
    return await opendir(directory, { encoding: 'latin1', bufferSize: batchLength })
  } catch (error) {
    if (isAbsence(error)) return undefined
    throw error
  }
}

/** Looked at at a time: enough to keep the disk busy, and little of what other requests need. */
const concurrency = 16

/** Knows all names first, since Node.js has no other way to learn names alone. */
async function* inspectedEntriesOf(directory: string): AsyncGenerator<readonly Entry[]> {
  const names = await namesIn(directory)
  for (let at = 0; at < names.length; at += concurrency) {
    const looks = names.slice(at, at + concurrency).map((name) => look(directory, name))
    yield (await Promise.all(looks)).filter((entry) => entry !== undefined)
  }
}

async function namesIn(directory: string): Promise<readonly string[]> {
  try {
    return await readdir(directory, { encoding: 'latin1' })
  } catch (error) {
    if (isAbsence(error)) return []
    throw error
  }
}

async function look(directory: string, name: string): Promise<Entry | undefined> {
  const path = Buffer.concat([Buffer.from(directory + sep), Buffer.from(name, 'latin1')])
  try {
    return Object.assign(await lstat(path), { name })
  } catch (error) {
    if (isAbsence(error)) return undefined
    throw error
  }
}
