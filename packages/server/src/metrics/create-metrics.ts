import type { Server } from 'node:http'
import { promisify } from 'node:util'
import { collectDefaultMetrics, Gauge, Registry, Histogram } from 'prom-client'
import { errorCodes } from '@holdfast/core'
import { routes, type AnsweredRequest, type Route } from '@holdfast/http-koa'
import type { ServerWatch, ServerStatus, MetricValues } from '../serve/server-watch.ts'
import { version } from '../version.ts'
import {
  createCounts,
  createLoginMetrics,
  createReloadMetrics,
  createStatusMetrics,
  createWorkerMetrics,
  mergeMetrics,
} from './server-metrics.ts'
import { createStoreMetrics } from './store-metrics.ts'

/** The metrics of a process; docs/metrics.md documents all of them. */
export interface Metrics {
  /** Pass this to the server of this process. */
  readonly watch: Required<ServerWatch>
  /** Adds the metrics of the whole server, which one process exports. `isReady` returns the result of `/ready`. */
  watchStatus(status: ServerStatus, isReady: () => Promise<boolean>): void
  /** Counts a line of the log, by pino's number of its level. */
  readonly onLogLine: (level: number) => void
  /** Counts lines of the log that could not be written. */
  readonly onLogLinesDropped: (lines: number) => void
  /** The present metrics of this process, for another process. */
  values(): Promise<MetricValues>
  /** The metrics of this process and its workers as text for Prometheus. */
  text(): Promise<string>
  /** The media type of that text. */
  readonly type: string
}

/** The levels whose lines are counted, by pino's numbers. */
const countedLevels: Readonly<Record<number, string>> = { 40: 'warn', 50: 'error', 60: 'fatal' }

/** Begins to measure. If the server has several processes, `process` is the label of this one in all its metrics. */
export function createMetrics(process?: string): Metrics {
  const register = new Registry()
  if (process !== undefined) register.setDefaultLabels({ process })
  collectDefaultMetrics({ register })
  new Gauge({
    name: 'holdfast_build_info',
    help: 'Always 1; the label is the version.',
    labelNames: ['version'],
    registers: [register],
  })
    .labels(version())
    .set(1)
  const lines = createCounts(register, {
    name: 'holdfast_log_lines_total',
    help: 'Lines of the log of level warn, error and fatal.',
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
  const reloads = createReloadMetrics(register)
  let askWorkers: (() => Promise<readonly MetricValues[]>) | undefined
  return {
    watch: {
      ...createRequestMetrics(register),
      ...createLoginMetrics(register),
      ...createStoreMetrics(register),
      onReload: reloads.onReload,
    },
    watchStatus(status, isReady) {
      const { customers, certificate, workers } = status
      createStatusMetrics(register, status, isReady)
      reloads.ask('customers', () => customers().refusedSince !== undefined)
      if (certificate) {
        reloads.ask('certificate', () => certificate().refusedSince !== undefined)
      }
      if (workers) askWorkers = createWorkerMetrics(register, workers)
    },
    onLogLine: (level) => byLevel.get(level)?.add(),
    onLogLinesDropped: (lines) => dropped.add(lines),
    type: register.contentType,
    values: () => register.getMetricsAsJSON(),
    async text() {
      if (askWorkers === undefined) return register.metrics()
      const others = await askWorkers()
      return mergeMetrics([await register.getMetricsAsJSON(), ...others])
    },
  }
}

/** In seconds: from a small file in memory to a large one for a slow client. */
const durations = [
  0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300,
]

/** The usual answers of every route, exported from the start. */
const usual = [
  ['200', 'ok'],
  ['400', 'refused'],
  ['500', 'failed'],
  ['503', 'failed'],
  ['507', 'failed'],
] as const

/** Codes of errors that are exported from the start: those of the core, and `unexpected` for errors without one. */
const codes = [...errorCodes, 'unexpected']

/** Metrics of requests and connections. */
function createRequestMetrics(
  register: Registry,
): Pick<ServerWatch, 'requestCounters' | 'server'> & Required<Pick<ServerWatch, 'onAnswered'>> {
  const registers = [register]
  const requests = createCounts(register, {
    name: 'holdfast_http_requests_total',
    help: 'Requests that were answered or cut off.',
    labelNames: ['route', 'status', 'outcome'],
  })
  const problems = createCounts(register, {
    name: 'holdfast_http_problems_total',
    help: 'Requests that were refused or failed, by the code of the error.',
    labelNames: ['code'],
  })
  const received = createCounts(register, {
    name: 'holdfast_http_received_bytes_total',
    help: 'Bytes of requests on their connections, headers included.',
    labelNames: ['route'],
  })
  const sent = createCounts(register, {
    name: 'holdfast_http_sent_bytes_total',
    help: 'Bytes of answers on their connections, headers included.',
    labelNames: ['route'],
  })
  const duration = new Histogram({
    name: 'holdfast_http_request_duration_seconds',
    help: "From the arrival of a request's headers to the end of its answer.",
    labelNames: ['route'],
    buckets: durations,
    registers,
  })
  const ofRoute = (route: Route) => ({
    received: received(route),
    sent: sent(route),
    duration: duration.labels(route),
  })
  const byRoute = new Map(routes.map((route) => [route, ofRoute(route)]))
  for (const route of routes) {
    duration.zero({ route })
    for (const answer of usual) requests(route, ...answer)
  }
  for (const code of codes) problems(code)

  let underWay = 0
  new Gauge({
    name: 'holdfast_http_requests_under_way',
    help: "Requests for customers' files that are under way.",
    registers,
    collect() {
      this.set(underWay)
    },
  })
  let countConnections = async () => 0
  new Gauge({
    name: 'holdfast_http_connections',
    help: 'Open connections of clients.',
    registers,
    async collect() {
      this.set(await countConnections())
    },
  })

  const refused = createCounts(register, {
    name: 'holdfast_http_connections_refused_total',
    help: 'Connections that were closed at once because too many were open.',
    labelNames: [],
  })()

  return {
    onAnswered(answered) {
      const { route, status, code, bytesIn, bytesOut, durationMs } = answered
      requests(route, `${status ?? 'none'}`, outcomeOf(answered)).add()
      if (code !== undefined) problems(code).add()
      const measured = byRoute.get(route)
      measured?.received.add(bytesIn)
      measured?.sent.add(bytesOut)
      measured?.duration.observe(durationMs / 1000)
    },
    requestCounters: ({ all, ...others }) => ({
      all: {
        count: () => all.count(),
        change(by) {
          underWay += by
          all.change(by)
        },
      },
      ...others,
    }),
    server(server: Server) {
      countConnections = promisify(server.getConnections.bind(server))
      server.on('drop', () => refused.add())
    },
  }
}

/** The outcome, with the words of the audit trail. */
function outcomeOf({ status, isAborted }: AnsweredRequest): string {
  if (isAborted || status === undefined) return 'aborted'
  if (status >= 500) return 'failed'
  return status >= 400 ? 'refused' : 'ok'
}
