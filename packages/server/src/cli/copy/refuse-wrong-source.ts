import { access, realpath } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { UsageError } from '../usage-error.ts'
import type { StorePlace } from './run-copy.ts'

/**
 * Refuses a directory to copy from that is not there, since opening it would make it, and one that is the target, too.
 *
 * @throws UsageError that names the directory
 */
export async function refuseWrongSource(from: StorePlace, to: StorePlace): Promise<void> {
  if (from.kind !== 'disk') return
  const { data } = from.config
  try {
    await access(join(data, 'holdfast.json'))
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new UsageError(
      `${data} is no directory of a holdfast server (${reason}). Say with --data where the files are.`,
    )
  }
  if (to.kind === 'disk' && (await truePath(data)) === (await truePath(to.config.data))) {
    throw new UsageError(`--data and --to-data are the same directory, ${data}.`)
  }
}

const truePath = (path: string) => realpath(path).catch(() => resolve(path))
