import { AggregatorRegistry, type Registry } from 'prom-client'

/** The figures of a process, as they go to another one. */
export type Figures = Awaited<ReturnType<Registry['getMetricsAsJSON']>>

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
