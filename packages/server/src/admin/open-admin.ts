import type { Logger } from 'pino'
import type { Config } from '../config/resolve-config.ts'
import type { Metrics } from '../metrics/create-metrics.ts'
import type { ListeningPlace } from '../listen/explain-listening.ts'
import type { ServerStatus, WorkersState } from '../serve/server-status.ts'
import { type Check, steadyCheck, type CheckResult } from './check.ts'
import { jsonAnswer, startAdminServer } from './start-admin-server.ts'
import { formatBytes } from '@holdfast/core'
import { programName } from '@holdfast/credentials-file'
import type { ClosableStore } from '../stores/open-store.ts'

/** What answers those who watch over a server: balancers, supervisors, monitoring. */
export interface Admin {
  /** Such as `http://127.0.0.1:3001`. */
  readonly url: string
  /** Says that the server serves from now on, and what there is to look at. */
  watch(status: ServerStatus): void
  /** Says that the server is about to stop. */
  retire(): void
  /** To be closed last. */
  close(): Promise<void>
}

/**
 * Listens at `place` for a server that is starting: `/live` answers as long as the process does, `/ready` says whether
 * to send it requests, and if not, why; `/metrics` gives the figures to Prometheus.
 *
 * @throws SetupError for what an administrator can mend
 */
export async function openAdmin(
  place: ListeningPlace,
  config: Config,
  log: Logger,
  metrics: Metrics,
): Promise<Admin> {
  const readiness = createReadiness(log)
  const server = await startAdminServer(
    place,
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
  ]
}

/** Whether the store keeps, returns and deletes a blob, tried with one that belongs to no customer. */
export function storeCheck(probe: ClosableStore['probe']): Check {
  return steadyCheck('store', async (signal) => {
    await probe(signal)
    return { ok: true }
  })
}

/** Whether `freeSpace` reports at least `least` bytes. */
export function freeSpaceCheck(freeSpace: () => Promise<number>, least: number): Check {
  return steadyCheck('free space', async () => {
    const bytes = await freeSpace()
    if (bytes >= least) return { ok: true, bytes, least }
    const why = `${formatBytes(bytes)} are left, less than the ${formatBytes(least)} of --min-free-space`
    return { ok: false, why, bytes, least }
  })
}

/**
 * Whether there are customers: without any, a server refuses every request. A customers file that was refused at a reload
 * does not make the server unready; the result mentions it.
 */
export function customersCheck({ customers }: Pick<ServerStatus, 'customers'>): Check {
  return {
    name: 'customers',
    look() {
      const { count, refusedSince } = customers()
      const refused = refusedSince && { refusedSince: refusedSince.toISOString() }
      if (count > 0) return { ok: true, count, ...refused }
      const why = `there are none, so that no one can log in; ${programName()} customers add NAME`
      return { ok: false, why, count, ...refused }
    },
  }
}

/** Whether all workers serve. */
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

/** Whether a server is to be sent requests. */
export interface Readiness {
  report(): Promise<ReadinessReport>
  /** It serves from now on, and is ready whenever all of these hold. */
  begin(checks: readonly Check[]): void
  /** It is about to end, and never ready again. */
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
      // The server may have begun or ended to serve during the checks.
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
