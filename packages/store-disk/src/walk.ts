import { isUtf8 } from 'node:buffer'
import type { Dirent } from 'node:fs'
import { lstat, readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Usage } from '@holdfast/core'
import type { Layout } from './layout.ts'
import { isAbsence } from './system-error.ts'

export interface Found {
  readonly name: string
  readonly path: string
}

/**
 * The blobs of a customer, in no order: every regular file with a valid name. Holds in memory the names of one
 * customer. Entries that an administrator put there and that are no blobs are passed over.
 */
export function findBlobs(layout: Layout, customer: string): Promise<Found[]> {
  return find(layout, layout.customerDirectory(customer), (entry) => entry.isFile())
}

/**
 * The customers who have a directory, in no order; all of their blobs may be deleted. Like a blob's path on its way, a
 * symbolic link is followed.
 */
export async function findCustomers(layout: Layout): Promise<string[]> {
  const found = await find(
    layout,
    layout.root,
    (entry) => entry.isDirectory() || entry.isSymbolicLink(),
  )
  const names: string[] = []
  for (const { name, path } of found) if (await isDirectory(path)) names.push(name)
  return names
}

/** What is named by the layout below `directory` and is `wanted`. */
async function find(
  layout: Layout,
  directory: string,
  isWanted: (entry: Dirent<Buffer>) => boolean,
): Promise<Found[]> {
  const found: Found[] = []

  const walk = async (parents: readonly string[]): Promise<void> => {
    for (const entry of await entriesOf(join(directory, ...parents))) {
      // What is not UTF-8 would be given as some other name.
      if (!isUtf8(entry.name)) continue
      const components = [...parents, entry.name.toString()]
      const component = components[components.length - 1] ?? ''
      if (entry.isDirectory() && layout.holdsMore(component)) await walk(components)
      const name = isWanted(entry) ? layout.nameAt(components) : undefined
      if (name !== undefined) found.push({ name, path: join(directory, ...components) })
    }
  }

  await walk([])
  return found
}

async function isDirectory(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory()
  } catch (error) {
    if (isAbsence(error)) return false
    throw error
  }
}

/** Files looked at at a time: enough to keep the disk busy, and little of what other requests need. */
const concurrency = 16

/** How many of `blobs` there are still, and their sizes. */
export async function measure(blobs: readonly Found[]): Promise<Usage> {
  const usage = { blobs: 0, bytes: 0 }
  const rest = blobs.values()
  const worker = async () => {
    for (const { path } of rest) {
      const size = await sizeOf(path)
      if (size === undefined) continue
      usage.blobs++
      usage.bytes += size
    }
  }
  await Promise.all(Array.from({ length: concurrency }, worker))
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

async function entriesOf(directory: string) {
  try {
    return await readdir(directory, { withFileTypes: true, encoding: 'buffer' })
  } catch (error) {
    if (isAbsence(error)) return []
    throw error
  }
}
