import { isUtf8 } from 'node:buffer'
import { lstat, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Usage } from '@holdfast/core'
import type { Layout } from './layout.ts'
import { isAbsence } from './system-error.ts'

export interface FoundBlob {
  readonly name: string
  readonly path: string
}

/**
 * The blobs of a customer, in no order: every regular file with a valid name. Holds in memory the names of one
 * customer. Entries that an administrator put there and that are no blobs are passed over.
 */
export async function findBlobs(layout: Layout, customer: string): Promise<FoundBlob[]> {
  const directory = layout.customerDirectory(customer)
  const found: FoundBlob[] = []

  const walk = async (parents: readonly string[]): Promise<void> => {
    for (const entry of await entriesOf(join(directory, ...parents))) {
      // What is not UTF-8 would be given as some other name.
      if (!isUtf8(entry.name)) continue
      const components = [...parents, entry.name.toString()]
      const component = components[components.length - 1] ?? ''
      if (entry.isDirectory() && layout.holdsBlobs(component)) await walk(components)
      const name = entry.isFile() ? layout.blobName(components) : undefined
      if (name !== undefined) found.push({ name, path: join(directory, ...components) })
    }
  }

  await walk([])
  return found
}

/** Files looked at at a time: enough to keep the disk busy, and little of what other requests need. */
const concurrency = 16

/** How many of `blobs` there are still, and their sizes. */
export async function measure(blobs: readonly FoundBlob[]): Promise<Usage> {
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
