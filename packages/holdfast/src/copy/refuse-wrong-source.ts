import { realpath } from 'node:fs/promises'
import { resolve } from 'node:path'
import { SetupError } from '@holdfast/core'
import { refuseMissingData } from '../settings/refuse-missing-data.ts'
import type { StorePlace } from './store-place.ts'

/**
 * Refuses a source directory that does not exist, or that is the target as well.
 *
 * @throws SetupError that names the directory
 */
export async function refuseWrongSource(from: StorePlace, to: StorePlace): Promise<void> {
  if (from.kind !== 'disk') return
  const { data } = from.config
  await refuseMissingData(data)
  if (to.kind === 'disk' && (await truePath(data)) === (await truePath(to.config.data))) {
    throw new SetupError(`--data and --to-data are the same directory, ${data}.`)
  }
}

const truePath = (path: string) => realpath(path).catch(() => resolve(path))
