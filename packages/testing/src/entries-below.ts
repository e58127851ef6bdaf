import type { Dirent } from 'node:fs'
import { readdir } from 'node:fs/promises'

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
