import type { Logger } from 'pino'
import type { Config } from '../config/resolve-config.ts'
import type { Metrics } from '../metrics/create-metrics.ts'
import type { ListeningPlace } from '../listen/explain-listening.ts'
import type { ServerStatus } from '../serve/server-status.ts'
import type { Check } from './check.ts'
import { customersCheck, freeSpaceCheck, storeCheck, workersCheck } from './checks.ts'
import { createReadiness } from './readiness.ts'
import { jsonAnswer, startAdminServer } from './start-admin-server.ts'

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
