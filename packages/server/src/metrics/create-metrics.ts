import { collectDefaultMetrics, Gauge, Registry } from 'prom-client'
import type { ServerWatch } from '../serve/server-watch.ts'
import type { ServerStatus, Figures } from '../serve/server-status.ts'
import { version } from '../version.ts'
import { createCounts } from './counts.ts'
import {
  createLoginFigures,
  createReloadFigures,
  createStatusFigures,
  createWorkerFigures,
  mergeFigures,
} from './figures.ts'
import { createRequestFigures } from './request-figures.ts'
import { createStoreFigures } from './store-figures.ts'

/** The figures of a process; docs/metrics.md has them all. */
export interface Metrics {
  /** To be given to the server of this process. */
  readonly watch: Required<ServerWatch>
  /** Adds the figures of the server as a whole, which one process exports. `isReady` is the result of `/ready`. */
  watchStatus(status: ServerStatus, isReady: () => Promise<boolean>): void
  /** Counts a line of the log, by pino's number of its level. */
  readonly onLogLine: (level: number) => void
  /** Counts lines of the log that could not be written. */
  readonly onLogLinesDropped: (lines: number) => void
  /** The figures of this process now, for another one. */
  figures(): Promise<Figures>
  /** The figures of this process and its workers as text for Prometheus. */
  text(): Promise<string>
  /** The media type of that text. */
  readonly type: string
}

/** Levels whose lines are worth counting, by pino's numbers. */
const countedLevels: Readonly<Record<number, string>> = { 40: 'warn', 50: 'error', 60: 'fatal' }

/** Begins to measure. `process` is the label of all figures where several processes are one server. */
export function createMetrics(process?: string): Metrics {
  const register = new Registry()
  if (process !== undefined) register.setDefaultLabels({ process })
  collectDefaultMetrics({ register })
  new Gauge({
    name: 'holdfast_build_info',
    help: 'Always 1; the labels say what runs.',
    labelNames: ['version'],
    registers: [register],
  })
    .labels(version())
    .set(1)
  const lines = createCounts(register, {
    name: 'holdfast_log_lines_total',
    help: 'Lines of the log that are more than news.',
    labelNames: ['level'],
  })
  const byLevel = new Map(
    Object.entries(countedLevels).map(([level, name]) => [Number(level), lines(name)]),
  )
  const dropped = createCounts(register, {
    name: 'holdfast_log_lines_dropped_total',
    help: 'Lines of the log, of any level, that could not be written.',
    labelNames: [],
  })()
  const reloads = createReloadFigures(register)
  let askWorkers: (() => Promise<readonly Figures[]>) | undefined
  return {
    watch: {
      ...createRequestFigures(register),
      ...createLoginFigures(register),
      ...createStoreFigures(register),
      onReload: reloads.onReload,
    },
    watchStatus(status, isReady) {
      const { customers, certificate, workers } = status
      createStatusFigures(register, status, isReady)
      reloads.ask('customers', () => customers().refusedSince !== undefined)
      if (certificate) {
        reloads.ask('certificate', () => certificate().refusedSince !== undefined)
      }
      if (workers) askWorkers = createWorkerFigures(register, workers)
    },
    onLogLine: (level) => byLevel.get(level)?.add(),
    onLogLinesDropped: (lines) => dropped.add(lines),
    type: register.contentType,
    figures: () => register.getMetricsAsJSON(),
    async text() {
      if (askWorkers === undefined) return register.metrics()
      const others = await askWorkers()
      return mergeFigures([await register.getMetricsAsJSON(), ...others])
    },
  }
}
