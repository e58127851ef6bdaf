import {
  openFileCredentialSource,
  programName,
  type FileCredentialSource,
} from '@holdfast/credentials-file'
import type { Logger } from 'pino'
import type { Config } from '../config/resolve-config.ts'

/** Opens the customers file. Logs every later change, taken or refused, and calls `onReload` for it. */
export async function openCustomers(
  { customers: path }: Config,
  log: Logger,
  onReload: (isTaken: boolean) => void = () => {},
): Promise<FileCredentialSource> {
  const source = await openFileCredentialSource(path, {
    onReloaded(summary) {
      log.info(summary, 'customers reloaded')
      onReload(true)
    },
    onRefused(error) {
      log.error(
        { reason: error.message },
        'customers file refused; the customers stay as they were',
      )
      onReload(false)
    },
    onWarning: (message) => log.warn(message),
  })
  if (source.customers().length === 0) {
    log.warn(
      `${path} has no customers: no one can log in. Add one: ${programName()} customers add NAME`,
    )
  }
  return source
}
