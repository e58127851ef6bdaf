import { open } from 'node:fs/promises'
import { isSystemError } from './system-error.ts'

/** Makes the entries of `directory` survive a power cut: names that came, names that went. */
export async function syncDirectory(directory: string): Promise<void> {
  // Windows opens no directories; NTFS keeps the order of its metadata in a journal.
  if (process.platform === 'win32') return
  const handle = await open(directory, 'r')
  try {
    await handle.sync()
  } catch (error) {
    // Network file systems that write names through at once (SMB) have nothing to sync and say so.
    if (!isSystemError(error, 'EINVAL')) throw error
  } finally {
    await handle.close()
  }
}
