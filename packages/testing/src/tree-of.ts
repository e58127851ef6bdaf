import { createHash } from 'node:crypto'
import { createReadStream, type Dirent } from 'node:fs'
import { join, relative } from 'node:path'
import { readdir } from 'node:fs/promises'

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

/** The entries of a directory and of those below it, which a server may be removing meanwhile. */
export async function entriesBelow(directory: string): Promise<Dirent[]> {
  for (;;) {
    try {
      return await readdir(directory, { recursive: true, withFileTypes: true })
    } catch (error) {
      const isGone = error instanceof Error && 'code' in error && error.code === 'ENOENT'
      if (!isGone || !('path' in error) || error.path === directory) throw error
    }
  }
}
