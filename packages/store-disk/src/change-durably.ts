import { open, type FileHandle } from 'node:fs/promises'
import { isSystemError } from './system-error.ts'

/**
 * Makes a `change` to the entries of `directory`, such as a new name, and resolves when it survives a power cut. The
 * directory is opened first: where that is refused, or no more files can be opened, nothing has changed.
 */
export async function changeDurably<T>(directory: string, change: () => Promise<T>): Promise<T> {
  // Windows opens no directories; NTFS keeps the order of its metadata in a journal.
  if (process.platform === 'win32') return change()
  const handle = await open(directory, 'r')
  try {
    const result = await change()
    await syncIfNeeded(handle)
    return result
  } finally {
    await handle.close()
  }
}

async function syncIfNeeded(directory: FileHandle): Promise<void> {
  try {
    await directory.sync()
  } catch (error) {
    // Network file systems that write names through at once (SMB) have nothing to sync and say so.
    if (!isSystemError(error, 'EINVAL')) throw error
  }
}
