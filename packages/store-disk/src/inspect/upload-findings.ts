import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { finding, formatBytes, type Finding } from '@holdfast/core'
import type { Layout } from '../directory/layout.ts'
import { isAbsence } from '../files/system-error.ts'
import { withEntries } from '../list/directory-entries.ts'
import { findCustomers } from '../list/find-blobs.ts'
import { parseContentName } from '../resumable/content-name.ts'
import { isUploadId } from '../resumable/find-upload.ts'

interface Counters {
  uploads: number
  bytes: number
  /** Entries that are no upload, and the first of them. */
  foreign: number
  example: string
  /** How many more may be inspected. */
  left: number
}

/**
 * Reports the unfinished uploads of `layout` and the space that they take, looking at `most` of them; nothing where no upload in
 * pieces has ever begun.
 */
export async function uploadFindings(layout: Layout, most: number): Promise<readonly Finding[]> {
  if (!(await namesIn(layout.root))) return []
  const counters: Counters = { uploads: 0, bytes: 0, foreign: 0, example: '', left: most }
  for (const customer of await withEntries((entriesOf) => findCustomers(layout, entriesOf))) {
    const directory = layout.customerDirectory(customer)
    for (const id of (await namesIn(directory)) ?? []) {
      if (layout.holdsMore(id)) continue
      if (counters.left-- <= 0) return report(counters, false)
      await count(join(directory, id), id, counters)
    }
  }
  return report(counters, true)
}

async function count(path: string, id: string, counters: Counters): Promise<void> {
  const names = isUploadId(id) ? await namesIn(path) : []
  // It may end at any time.
  if (!names) return
  const contents = names.filter((name) => parseContentName(name))
  if (!names.some((name) => name.endsWith('.json'))) {
    counters.example ||= path
    counters.foreign++
  }
  for (const content of contents) counters.bytes += await sizeOf(join(path, content))
  if (contents.length > 0) counters.uploads++
}

function report({ uploads, bytes, foreign, example }: Counters, isComplete: boolean) {
  const looked = isComplete ? '' : '; not all were looked at'
  const message = `${uploads.toLocaleString('en')} unfinished, ${formatBytes(bytes)}${looked}`
  const found = [finding('ok', 'uploads in pieces', message)]
  if (foreign === 0) return found
  const strange = `${foreign} beside the uploads not made by holdfast, such as ${example}, which holdfast does not remove`
  return [
    ...found,
    finding('warning', 'uploads in pieces', strange, 'See what it is, and remove it.'),
  ]
}

async function namesIn(directory: string): Promise<readonly string[] | undefined> {
  try {
    return await readdir(directory)
  } catch (error) {
    if (isAbsence(error)) return undefined
    throw error
  }
}

async function sizeOf(path: string): Promise<number> {
  try {
    return (await stat(path)).size
  } catch (error) {
    if (isAbsence(error)) return 0
    throw error
  }
}
