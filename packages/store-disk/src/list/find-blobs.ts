import { isUtf8 } from 'node:buffer'
import { lstat, stat } from 'node:fs/promises'
import { sep } from 'node:path'
import type { Usage } from '@holdfast/core'
import type { Layout } from '../directory/layout.ts'
import { isAbsence } from '../files/translate-fs-error.ts'
import type { EntriesOf, DirectoryEntry } from './directory-entries.ts'

/**
 * The names of a customer's blobs, in no order, in batches: of every regular file with a valid name. Skips other entries, which an
 * administrator put there.
 */
export function findBlobs(
  layout: Layout,
  customer: string,
  entriesOf: EntriesOf,
): AsyncIterable<readonly string[]> {
  const walk = { layout, entriesOf, isWanted: (entry: DirectoryEntry) => entry.isFile() }
  return find(walk, layout.customerDirectory(customer), [])
}

/** The names of a customer that have a directory of their own in `layout`, in no order, in batches. */
export function findDirectories(
  layout: Layout,
  customer: string,
  entriesOf: EntriesOf,
): AsyncIterable<readonly string[]> {
  const walk = { layout, entriesOf, isWanted: (entry: DirectoryEntry) => entry.isDirectory() }
  return find(walk, layout.customerDirectory(customer), [])
}

/**
 * The customers who have a directory, in no order; all of their blobs may be deleted. Follows a symbolic link, as the path of a blob does.
 */
export async function findCustomers(layout: Layout, entriesOf: EntriesOf): Promise<string[]> {
  const isWanted = (entry: DirectoryEntry) => entry.isDirectory() || entry.isSymbolicLink()
  const customers: string[] = []
  for await (const batch of find({ layout, entriesOf, isWanted }, layout.root, [])) {
    for (const name of batch) {
      if (await isDirectory(layout.customerDirectory(name))) customers.push(name)
    }
  }
  return customers
}

interface Walk {
  readonly layout: Layout
  readonly entriesOf: EntriesOf
  readonly isWanted: (entry: DirectoryEntry) => boolean
}

/**
 * The names that the layout gives to wanted entries in `directory` and below; `parents` are the components from where names begin to
 * `directory`.
 */
async function* find(
  walk: Walk,
  directory: string,
  parents: readonly string[],
): AsyncGenerator<readonly string[]> {
  const { layout, entriesOf, isWanted } = walk
  for await (const entries of entriesOf(directory)) {
    const names: string[] = []
    for (const entry of entries) {
      const component = textOf(entry.name)
      if (component === undefined) continue
      const components = [...parents, component]
      if (entry.isDirectory() && layout.holdsMore(component)) {
        yield* find(walk, directory + sep + component, components)
      }
      const name = isWanted(entry) ? layout.nameAt(components) : undefined
      if (name !== undefined) names.push(name)
    }
    yield names
  }
}

const ascii = /^[\u0000-\u007f]*$/

/** The text that `bytes` are in UTF-8; `undefined` if they are not UTF-8: decoding would give another name. */
function textOf(bytes: string): string | undefined {
  if (ascii.test(bytes)) return bytes
  const buffer = Buffer.from(bytes, 'latin1')
  return isUtf8(buffer) ? buffer.toString() : undefined
}

async function isDirectory(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory()
  } catch (error) {
    if (isAbsence(error)) return false
    throw error
  }
}

/** Files inspected at a time: enough to keep the disk busy, with capacity left for other requests. */
const concurrency = 16

/** Counts the blobs called as in `names` that still exist, and sums their sizes. */
export async function measure(
  layout: Layout,
  customer: string,
  names: AsyncIterable<readonly string[]>,
): Promise<Usage> {
  const usage = { blobs: 0, bytes: 0 }
  for await (const batch of names) {
    const rest = batch.values()
    const worker = async () => {
      for (const name of rest) {
        const size = await sizeOf(layout.blobPath({ customer, name }))
        if (size === undefined) continue
        usage.blobs++
        usage.bytes += size
      }
    }
    await Promise.all(Array.from({ length: concurrency }, worker))
  }
  return usage
}

async function sizeOf(path: string): Promise<number | undefined> {
  try {
    const stats = await lstat(path)
    return stats.isFile() ? stats.size : undefined
  } catch (error) {
    if (isAbsence(error)) return undefined
    throw error
  }
}
