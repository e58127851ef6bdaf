import { isUtf8 } from 'node:buffer'
import type { Dirent } from 'node:fs'
import { lstat, opendir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Usage } from '@holdfast/core'
import type { Layout } from './layout.ts'
import { isAbsence } from './system-error.ts'

export interface Found {
  readonly name: string
  readonly path: string
}

/**
 * The blobs of a customer, in no order, as they are found: every regular file with a valid name. Entries that an
 * administrator put there and that are no blobs are passed over.
 */
export function findBlobs(layout: Layout, customer: string): AsyncIterable<Found> {
  return find(layout, layout.customerDirectory(customer), (entry) => entry.isFile())
}

/**
 * The customers who have a directory, in no order; all of their blobs may be deleted. Like a blob's path on its way, a
 * symbolic link is followed.
 */
export async function findCustomers(layout: Layout): Promise<string[]> {
  const found = find(layout, layout.root, (entry) => entry.isDirectory() || entry.isSymbolicLink())
  const names: string[] = []
  for await (const { name, path } of found) if (await isDirectory(path)) names.push(name)
  return names
}

/** What is named by the layout below `directory` and is `wanted`; `parents` lead there from where names begin. */
async function* find(
  layout: Layout,
  directory: string,
  isWanted: (entry: Dirent<Buffer>) => boolean,
  parents: readonly string[] = [],
): AsyncGenerator<Found> {
  for await (const entry of entriesOf(join(directory, ...parents))) {
    // What is not UTF-8 would be given as some other name.
    if (!isUtf8(entry.name)) continue
    const component = entry.name.toString()
    const components = [...parents, component]
    if (entry.isDirectory() && layout.holdsMore(component)) {
      yield* find(layout, directory, isWanted, components)
    }
    const name = isWanted(entry) ? layout.nameAt(components) : undefined
    if (name !== undefined) yield { name, path: join(directory, ...components) }
  }
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
export async function measure(blobs: AsyncIterable<Found>): Promise<Usage> {
  const usage = { blobs: 0, bytes: 0 }
  const worker = async () => {
    for await (const { path } of blobs) {
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

/** Entries read at a time: with so many it is as fast as reading all at once, and needs little memory. */
const bufferSize = 1024

/** Nothing for a directory that is not there. */
async function* entriesOf(directory: string): AsyncGenerator<Dirent<Buffer>> {
  const opened = await openIfThere(directory)
  if (opened) yield* opened as AsyncIterable<unknown> as AsyncIterable<Dirent<Buffer>>
}

async function openIfThere(directory: string) {
  try {
    // Typed for text only.
    return await opendir(directory, { encoding: 'buffer' as BufferEncoding, bufferSize })
  } catch (error) {
    if (isAbsence(error)) return undefined
    throw error
  }
}
