import { mkdir, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { isSystemError } from './file-calls.ts'

/** Owner and group; other users may not read customers' files. */
const mode = 0o750

/**
 * Makes `directory`, an absolute path, and what is missing above it; resolves with what it made, outermost first. Node's own recursive
 * `mkdir` never ends if the system reports "no such directory" for a parent that exists, as in /proc.
 */
export async function makeDirectories(directory: string): Promise<readonly string[]> {
  try {
    return await makeDirectory(directory)
  } catch (error) {
    if (!isSystemError(error, 'ENOENT') || dirname(directory) === directory) throw error
  }
  const parents = await makeDirectories(dirname(directory))
  return [...parents, ...(await makeDirectory(directory))]
}

/** Also succeeds if the directory exists already, or another process makes it at the same time. */
async function makeDirectory(directory: string): Promise<readonly string[]> {
  try {
    await mkdir(directory, { mode })
    return [directory]
  } catch (error) {
    if (isSystemError(error, 'EEXIST') && (await stat(directory)).isDirectory()) return []
    throw error
  }
}
