import type { Metrics } from './create-metrics.ts'
import type { Config } from '../config/resolve-config.ts'

/**
 * Begins to measure, where somebody can see the figures: with an admin port. `process` tells the processes of one server
 * apart; left out where there is one.
 */
export async function openMetrics(
  { 'admin-port': port }: Pick<Config, 'admin-port'>,
  process?: string,
): Promise<Metrics | undefined> {
  if (port === undefined) return undefined
  // Loaded only now: a server without the port does without.
  const { createMetrics } = await import('./create-metrics.ts')
  return createMetrics(process)
}
