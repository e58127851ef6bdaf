import { access } from 'node:fs/promises'
import { join } from 'node:path'
import { closestWord, messageOf, SetupError } from '@holdfast/core'
import type { Config, StoreKind } from '@holdfast/server/config'
import type { ClosableStore, WarningLog } from '@holdfast/server/stores'
import { visible } from '@holdfast/server/visible'
import { standardError } from './terminal/print.ts'

/** Writes warnings to standard error. */
const standardErrorLog: WarningLog = {
  warn: (message) => void standardError().write(`holdfast: ${visible(message)}\n`),
}

/**
 * Opens a store that a command reads from, without making a bucket.
 *
 * @param log default: standard error
 *
 * @throws SetupError for what an administrator can mend
 */
export async function openExistingStore(
  kind: StoreKind,
  config: Config,
  log = standardErrorLog,
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
    const reason = messageOf(error)
    throw new SetupError(`${data} is not the data directory of a holdfast server (${reason})`, [
      'Give the directory of the files with --data.',
    ])
  }
}

/** Makes the error for a customer that does not exist: `problem`, and the one of `names` that was probably meant. */
export function unknownCustomer(
  problem: string,
  customer: string,
  names: readonly string[],
): SetupError {
  const meant = closestWord(customer, names)
  if (meant === undefined) return new SetupError(problem)
  return new SetupError(problem.replace(/\.$/, ''), [`Did you mean "${meant}"?`])
}
