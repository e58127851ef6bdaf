import type { Metrics } from './create-metrics.ts'
import type { Config } from '../config/resolve-config.ts'

/**
 * Begins to measure if there is an admin port, at which the metrics can be read. `process` is the label of this process, for servers
 * with several processes.
 */
export async function openMetrics(
  { 'admin-port': port }: Pick<Config, 'admin-port'>,
  process?: string,
): Promise<Metrics | undefined> {
  if (port === undefined) return undefined
  // Loaded only now: it loads the client library of Prometheus.
  const { createMetrics } = await import('./create-metrics.ts')
  return createMetrics(process)
}
