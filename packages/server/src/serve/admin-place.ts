import { SetupError } from '@holdfast/core'
import type { Config } from '../config/resolve-config.ts'
import type { ListeningPlace } from '../listen/explain-listening.ts'

/**
 * Where those who watch over the server reach it; `undefined` where the configuration has no such port.
 *
 * @throws SetupError if it is the port of the customers
 */
export function adminPlace(config: Config): ListeningPlace | undefined {
  const { 'admin-port': port, 'admin-host': host } = config
  if (port === undefined) return undefined
  if (port === config.port && port !== 0) {
    throw new SetupError(
      `The ports for customers (--port) and for administration (--admin-port) are both ${port}`,
      ['choose another one.'],
    )
  }
  return { host, port, prefix: 'admin-' }
}
