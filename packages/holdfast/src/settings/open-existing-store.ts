import { access } from 'node:fs/promises'
import { join } from 'node:path'
import { SetupError } from '@holdfast/core'
import type { Config, StoreKind } from '@holdfast/server/config'
import type { ClosableStore, WarningLog } from '@holdfast/server/stores'

/**
 * Opens a store that a command reads from, without making a bucket.
 *
 * @throws SetupError for what an administrator can mend
 */
export async function openExistingStore(
  kind: StoreKind,
  config: Config,
  log: WarningLog,
): Promise<ClosableStore> {
  // Loaded only now: without the stores, help and error messages come twice as fast.
  const { openStore } = await import('@holdfast/server/stores')
  try {
    return await openStore(kind, { ...config, 'minio-create-bucket': false }, log)
  } catch (error) {
    if (!(error instanceof SetupError && error.cause instanceof Error)) throw error
    if (error.cause.name !== 'NoSuchBucket') throw error
    // A new one would have nothing to read.
    throw new SetupError(error.problem.replace(/:$/, ''), ['Check its name.'], error)
  }
}

/**
 * Refuses a data directory that does not exist, for commands that only read: opening it would make it.
 *
 * @throws SetupError that names the directory
 */
export async function refuseMissingData(data: string): Promise<void> {
  try {
    await access(join(data, 'holdfast.json'))
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new SetupError(`${data} is not the data directory of a holdfast server (${reason})`, [
      'Give the directory of the files with --data.',
    ])
  }
}
