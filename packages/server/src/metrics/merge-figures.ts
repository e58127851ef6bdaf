import { AggregatorRegistry } from 'prom-client'
import type { Figures } from '../serve/server-status.ts'

/**
 * The figures of several processes as text for Prometheus. Each has a label that says whose it is, so that nothing is added
 * up: what would be lost with a process that dies or is silent, and look as if a counter had been set back, stays apart.
 */
export function mergeFigures(all: readonly Figures[]): Promise<string> {
  const kept = all.map((figures) =>
    // Else prom-client leaves some out.
    figures.map((metric) => ({ ...metric, aggregator: 'sum' })),
  )
  return AggregatorRegistry.aggregate(kept).metrics()
}
