import { access } from 'node:fs/promises'
import { join } from 'node:path'
import { SetupError } from '@holdfast/core'

/**
 * Refuses a data directory that does not exist, for commands that only read. Opening it would make it.
 *
 * @throws SetupError that names the directory
 */
export async function refuseMissingData(data: string): Promise<void> {
  try {
    await access(join(data, 'holdfast.json'))
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new SetupError(`${data} is no directory of a holdfast server (${reason})`, [
      'Say with --data where the files are.',
    ])
  }
}
