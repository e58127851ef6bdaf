import { SetupError } from '@holdfast/core'
import type { Config, StoreKind } from '@holdfast/server/config'
import { openStore, type WarningLog } from '@holdfast/server/stores'

/**
 * Opens a store that a command reads from, and makes no bucket for it.
 *
 * @throws SetupError for what an administrator can mend
 */
export async function openExistingStore(
  kind: StoreKind,
  config: Config,
  log: WarningLog,
): ReturnType<typeof openStore> {
  try {
    return await openStore(kind, { ...config, 'minio-create-bucket': false }, log)
  } catch (error) {
    if (!(error instanceof SetupError && error.cause instanceof Error)) throw error
    if (error.cause.name !== 'NoSuchBucket') throw error
    // A new one would have nothing to read.
    throw new SetupError(error.problem.replace(/:$/, ''), ['Check its name.'], error)
  }
}
