import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { join, relative } from 'node:path'
import { entriesBelow } from './entries-below.ts'

/** The regular files below a directory, each with the SHA-256 of its content. */
export async function treeOf(directory: string): Promise<ReadonlyMap<string, string>> {
  const entries = await entriesBelow(directory)
  const paths = entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort()
  const tree = new Map<string, string>()
  for (const path of paths) {
    const hash = createHash('sha256')
    for await (const chunk of createReadStream(path)) hash.update(chunk as Buffer)
    tree.set(relative(directory, path), hash.digest('hex'))
  }
  return tree
}
