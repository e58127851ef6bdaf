import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'
import { formatBytes } from '@holdfast/core'
import { programName } from '@holdfast/credentials-file'
import { createDrain, createHttpServer, errorBody } from '@holdfast/http-koa'
import type { Config } from '../config/resolve-config.ts'
import type { Metrics } from '../metrics/create-metrics.ts'
import {
  type ListeningAddress,
  explainListening,
  listeningUrl,
  limitConnections,
} from '../listen.ts'
import type { EngineState } from '../shared/open-shared-state.ts'
import type { ServerStatus, WorkersState } from '../serve/server-watch.ts'
import type { ClosableStore } from '../stores/open-store.ts'
/** Answers the programs that watch a server: load balancers, supervisors, monitoring. */
export interface Admin {
  /** Such as `http://127.0.0.1:3001`. */
  readonly url: string
  /** Call this when the server serves; `status` is what is checked and measured. */
  watch(status: ServerStatus): void
  /** Call this when the server is about to stop. */
  retire(): void
  /** Call this last. */
  close(): Promise<void>
}

/**
 * Listens at `address` for a server that is starting: `/live` answers while the process works; `/ready` says whether to send it
 * requests, and if not, why; `/metrics` gives the metrics to Prometheus.
 *
 * @throws SetupError for a mistake that an administrator can correct
 */
export async function openAdmin(
  address: ListeningAddress,
  config: Config,
  log: Logger,
  metrics: Metrics,
): Promise<Admin> {
  const readiness = createReadiness(log)
  const server = await startAdminServer(
    address,
    {
      '/live': () => jsonAnswer(200, { live: true }),
      '/metrics': async () => ({ status: 200, type: metrics.type, text: await metrics.text() }),
      '/ready': async () => {
        const report = await readiness.report()
        return jsonAnswer(report.ready ? 200 : 503, report)
      },
    },
    log,
  )
  return {
    url: server.url,
    watch(status) {
      readiness.begin(checksOf(status, config))
      metrics.watchStatus(status, async () => (await readiness.report()).ready)
    },
    retire: () => readiness.end(),
    close: () => server.close(),
  }
}

function checksOf(status: ServerStatus, { 'min-free-space': least }: Config): readonly Check[] {
  const { store, workers } = status
  return [
    storeCheck(store.probe),
    ...(store.freeSpace ? [freeSpaceCheck(store.freeSpace, least)] : []),
    customersCheck(status),
    ...(workers ? [workersCheck(workers)] : []),
    ...(status.shared ? [sharedCheck(status.shared)] : []),
  ]
}

/** Checks that the store keeps, returns and deletes a blob; it uses one that belongs to no customer. */
function storeCheck(probe: ClosableStore['probe']): Check {
  return steadyCheck('store', async (signal) => {
    await probe(signal)
    return { ok: true }
  })
}

/** Checks that `freeSpace` reports at least `least` bytes. */
export function freeSpaceCheck(freeSpace: () => Promise<number>, least: number): Check {
  return steadyCheck('free space', async () => {
    const bytes = await freeSpace()
    if (bytes >= least) return { ok: true, bytes, least }
    const why = `${formatBytes(bytes)} are left, less than the ${formatBytes(least)} of --min-free-space`
    return { ok: false, why, bytes, least }
  })
}

/**
 * Checks that there are customers: without any, a server refuses every request. If the customers file was refused at a reload, the
 * server stays ready; the result mentions it.
 */
export function customersCheck({ customers }: Pick<ServerStatus, 'customers'>): Check {
  return {
    name: 'customers',
    look() {
      const { count, refusedSince } = customers()
      const refused = refusedSince && { refusedSince: refusedSince.toISOString() }
      if (count > 0) return { ok: true, count, ...refused }
      const why = `there are no customers, so no one can log in; run: ${programName()} customers add NAME`
      return { ok: false, why, count, ...refused }
    },
  }
}

/**
 * Says whether the server counts together with others. It is always ok: a balancer must not turn away from all servers when what they
 * share is away.
 */
function sharedCheck(state: () => EngineState): Check {
  return {
    name: 'shared counts',
    look() {
      const { awayReason, servers } = state()
      if (awayReason === undefined) return { ok: true, servers }
      return { ok: true, why: `${awayReason}; this server counts for itself`, servers }
    },
  }
}

/** Checks that all workers serve. */
export function workersCheck({
  wanted,
  answering,
}: Pick<WorkersState, 'wanted' | 'answering'>): Check {
  return steadyCheck('workers', async (signal) => {
    const count = await answering(signal)
    if (count === wanted) return { ok: true, count, wanted }
    return { ok: false, why: `${count} of ${wanted} answer`, count, wanted }
  })
}

/** The body of the response to `/ready`. */
export interface ReadinessReport {
  readonly ready: boolean
  readonly checks: readonly (CheckResult & { readonly name: string })[]
}

/** Decides whether a server is ready for requests. */
export interface Readiness {
  report(): Promise<ReadinessReport>
  /** Call this when the server serves. From then on it is ready while all `checks` are ok. */
  begin(checks: readonly Check[]): void
  /** Call this when the server is about to end. From then on it is never ready. */
  end(): void
}

/** The readiness of a server that is starting. A later change is logged at the next report. */
export function createReadiness(log: Logger): Readiness {
  const notServing = (why: string): readonly Check[] => [
    { name: 'serving', look: () => ({ ok: false, why }) },
  ]
  let checks = notServing('the server is starting')
  let wasReady = true

  const logChange = (ready: boolean, failed: readonly { readonly name: string }[]) => {
    if (ready === wasReady) return
    wasReady = ready
    if (ready) log.info('ready again')
    else log.warn({ failed }, 'not ready')
  }
  return {
    async report() {
      const asked = checks
      const results = await Promise.all(
        asked.map(async (check) => ({ name: check.name, ...(await check.look()) })),
      )
      // The server may have started or stopped serving during the checks.
      if (asked !== checks) return this.report()
      const failed = results.filter(({ ok }) => !ok)
      const ready = failed.length === 0
      if (asked.some(({ name }) => name !== 'serving')) logChange(ready, failed)
      return { ready, checks: results }
    },
    begin(all) {
      checks = all
    },
    end() {
      checks = notServing('the server is stopping')
    },
  }
}

interface AdminAnswer {
  readonly status: number
  /** The media type. */
  readonly type: string
  readonly text: string
}

/** Answers GET and HEAD of a path. */
type AdminRoute = () => AdminAnswer | Promise<AdminAnswer>

export interface AdminServer {
  /** Such as `http://127.0.0.1:3001`. */
  readonly url: string
  /** Waits until the answers under way have ended, at most for a second. */
  close(): Promise<void>
}

/** How long an answer under way may take when the server is closed, in milliseconds. */
const graceMs = 1_000

/** Load balancers and monitoring need few connections, and each takes an open file from the service. */
const maxConnections = 64

const allow = 'GET, HEAD, OPTIONS'

/**
 * Listens in plain HTTP for the programs that watch the server, and answers by `routes`, which has the handler of each path. Errors
 * have the same form as everywhere in holdfast; errors on our side are logged.
 *
 * @throws SetupError for a mistake that an administrator can correct
 */
export async function startAdminServer(
  address: ListeningAddress,
  routes: Readonly<Record<string, AdminRoute>>,
  log: Logger,
): Promise<AdminServer> {
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    request.resume()
    const [path = ''] = (request.url ?? '').split('?')
    const route = Object.hasOwn(routes, path) ? routes[path] : undefined
    if (!route) return send(response, problem(404, 'Not Found'))
    if (request.method !== 'GET' && request.method !== 'HEAD')
      return refuseMethod(request, response)
    try {
      send(response, await route())
    } catch (error) {
      log.error({ err: error, path }, 'the admin port cannot answer')
      send(response, problem(500, 'An unexpected error occurred'))
    }
  }
  const server = createHttpServer({ callback: () => answer })
  limitConnections(server, maxConnections, log)
  const drain = createDrain(server)
  try {
    server.listen(address.port, address.host)
    await once(server, 'listening')
  } catch (error) {
    throw explainListening(error, address)
  }
  return {
    url: listeningUrl('http', server.address()),
    async close() {
      await drain(graceMs)
    },
  }
}

function refuseMethod({ method }: IncomingMessage, response: ServerResponse): void {
  response.setHeader('Allow', allow)
  if (method === 'OPTIONS') response.writeHead(204).end()
  else send(response, problem(405, `Method not allowed. Use ${allow}`))
}

function problem(status: number, message: string): AdminAnswer {
  return jsonAnswer(status, errorBody(status, message))
}

/** An answer of `body` as JSON. */
export function jsonAnswer(status: number, body: object): AdminAnswer {
  return { status, type: 'application/json; charset=utf-8', text: JSON.stringify(body) }
}

/** Sends the answer; for a HEAD request, Node omits the text. */
function send(response: ServerResponse, { status, type, text }: AdminAnswer): void {
  response.writeHead(status, {
    'Content-Type': type,
    'Content-Length': Buffer.byteLength(text),
    'Cache-Control': 'no-store',
  })
  response.end(text)
}

/** The result of a check. Further fields give details. */
export interface CheckResult {
  readonly ok: boolean
  /** What is wrong, for an administrator. */
  readonly why?: string
  readonly [detail: string]: unknown
}

/** A condition for a server to be ready. */
interface Check {
  readonly name: string
  look(): CheckResult | Promise<CheckResult>
}

export interface SteadyCheckOptions {
  /** How long a result is used without a new run, in milliseconds. Default: 2,000. */
  readonly freshMs?: number
  /** How long to wait for a new result if an earlier one is still valid, in milliseconds. Default: 500. */
  readonly patienceMs?: number
  /** How long to wait for a new result if there is no valid one, in milliseconds. Default: 5,000. */
  readonly waitMs?: number
  /** How long a result is valid at most, and after how long a run has failed, in milliseconds. Default: 15,000. */
  readonly limitMs?: number
}

/** Runs the check once; `signal` aborts when the result is no longer needed. */
type Look = (signal: AbortSignal) => Promise<CheckResult>

/**
 * A check that takes time and may hang. Only one run is under way at a time, for any number of callers, and a fresh result is
 * reused. If a run takes long and there is an earlier result, callers get that one, since they have time limits, too. An error of
 * `look` becomes the reason of a failed check.
 */
export function steadyCheck(name: string, look: Look, options: SteadyCheckOptions = {}): Check {
  const { freshMs = 2_000, patienceMs = 500, waitMs = 5_000, limitMs = 15_000 } = options
  let last: { readonly result: CheckResult; readonly at: number } | undefined
  let underWay: { readonly since: number; readonly done: Promise<void> } | undefined

  const lookNow = async (since: number) => {
    const result = await outcomeOf(look, limitMs)
    const at = performance.now()
    last = { result: { ...result, durationMs: Math.round(at - since) }, at }
    underWay = undefined
  }
  const begin = () => {
    const since = performance.now()
    return { since, done: lookNow(since) }
  }
  const lastWithin = (ms: number) =>
    last && performance.now() - last.at < ms ? last.result : undefined

  return {
    name,
    async look() {
      const fresh = lastWithin(freshMs)
      if (fresh) return fresh
      const { since, done } = (underWay ??= begin())
      const isOver = () => underWay?.since !== since
      const left = since + limitMs - performance.now()
      await settledWithin(done, lastWithin(limitMs) ? patienceMs : Math.min(waitMs, left))
      const result = isOver() ? last?.result : lastWithin(limitMs)
      return result ?? silent(performance.now() - since)
    },
  }
}

async function outcomeOf(look: Look, limitMs: number): Promise<CheckResult> {
  const signal = AbortSignal.timeout(limitMs)
  try {
    return await look(signal)
  } catch (error) {
    return signal.aborted ? silent(limitMs) : { ok: false, why: reasonOf(error) }
  }
}

function silent(ms: number): CheckResult {
  return { ok: false, why: `there has been no answer for ${Math.round(ms / 1000)} s` }
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.cause instanceof Error ? `${error.message}: ${error.cause.message}` : error.message
}

/** Resolves when `done` does, or after `ms`. */
async function settledWithin(done: Promise<void>, ms: number): Promise<void> {
  const timer = new AbortController()
  const { signal } = timer
  await Promise.race([done, delay(Math.max(0, ms), undefined, { signal }).catch(() => {})])
  timer.abort()
}
