import { open, realpath, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { advice, type Advice } from '@holdfast/core'
import writeFileAtomic from 'write-file-atomic'
import { describeDenial } from '../messages/describe-denial.ts'
import { CustomersFileError } from './customers-file-error.ts'

/**
 * Writes a customers file in one step and durably; links to it stay links. A new file has mode 0600. An existing one keeps its
 * owner and group, and what the group may do: the server may be of that group, and has to read the file after an edit, too.
 * Others may do nothing.
 *
 * @throws CustomersFileError when it cannot be written; the old file is then still there.
 */
export async function saveCustomersText(path: string, text: string): Promise<void> {
  try {
    const before = await stat(path).catch(() => undefined)
    await writeFileAtomic(path, text, { mode: ((before?.mode ?? 0) & 0o070) | 0o600 })
    await syncDirectory(dirname(await realpath(path)))
  } catch (error) {
    throw new CustomersFileError(path, [unwritable(error)], error)
  }
}

/** Without it, a power cut could restore the old file after the administrator has been given the new password. */
async function syncDirectory(path: string): Promise<void> {
  if (process.platform === 'win32') return
  const directory = await open(path, 'r')
  try {
    await directory.sync()
  } finally {
    await directory.close()
  }
}

/** Why a customers file, or the lock beside it, could not be written. */
export function unwritable(error: unknown): Advice {
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error'
  switch (code) {
    case 'ENOENT':
      return advice('cannot be created, since its directory does not exist', 'create that first')
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
      return advice(
        `cannot be written by this user (${describeDenial(error) ?? code})`,
        'it is replaced as a whole, so its directory has to be writable',
      )
    case 'ENOSPC':
      return advice('cannot be written, since the disk is full', 'nothing was changed')
    default:
      return advice(`cannot be written (${code})`)
  }
}
