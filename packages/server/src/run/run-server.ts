import { write } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'
import { type Admin, openAdmin } from '../admin/open-admin.ts'
import type { Config } from '../config/resolve-config.ts'
import { killProcess, openLog } from '../log/open-log.ts'
import type { Metrics } from '../metrics/create-metrics.ts'
import { adminAddress } from '../listen.ts'
import type { ServerWatch } from '../serve/server-watch.ts'
import { openMetrics } from '../metrics/open-metrics.ts'
import { locationOf } from '../stores/open-store.ts'
import { startServer, type RunningServer } from '../serve/start-server.ts'
import { warnOfVariables } from '../config/environment.ts'
import { startWorkers } from '../workers/start-workers.ts'

/**
 * Runs a server in this process and its workers until a signal ends it. The log goes to standard output. Resolves with the exit code.
 */
export async function runServer(config: Config): Promise<number> {
  const signals = catchSignals()
  const metrics = await openMetrics(config, config.workers > 1 ? 'primary' : undefined)
  const openedLog = openLog(config, metrics)
  const { log } = openedLog
  warnOfVariables(log, process.env)
  try {
    const admin = await openAdminPort(config, log, metrics)
    try {
      return await runWatched(config, log, signals, admin, metrics?.watch)
    } finally {
      await admin?.close()
    }
  } finally {
    await openedLog.end()
    setTimeout(killProcess, lastCallsMs).unref()
  }
}

/** How long a process that has ended its work waits for system calls, in milliseconds. */
const lastCallsMs = 1_000

/** How long the stop may take after a second signal, in milliseconds: a disk may hang. */
const hangingMs = 10_000

async function openAdminPort(
  config: Config,
  log: Logger,
  metrics: Metrics | undefined,
): Promise<Admin | undefined> {
  const address = adminAddress(config)
  if (address === undefined || metrics === undefined) return undefined
  return openAdmin(address, config, log, metrics)
}

async function runWatched(
  config: Config,
  log: Logger,
  signals: Signals,
  admin: Admin | undefined,
  watch: ServerWatch | undefined,
): Promise<number> {
  const server = await startUnlessHurried(config, log, signals.hurry, watch)
  admin?.watch(server.status)
  log.info(
    {
      url: server.url,
      ...(admin && { admin: admin.url }),
      store: config.store,
      ...locationOf(config.store, config),
      ...(config.workers > 1 && { workers: config.workers }),
    },
    `holdfast listens on ${server.url}`,
  )
  signals.onReload(() => void server.reload())
  signals.hurry.addEventListener('abort', () => {
    setTimeout(() => killWith('holdfast: Killed while stopping.'), hangingMs).unref()
  })
  const signal = await signals.end
  admin?.retire()
  await serveOn(config['shutdown-delay'], signals, log)
  log.info({ signal }, 'finishing the requests under way')
  const isClean = await server.close(signals.hurry)
  if (isClean) log.info('stopped')
  else log.warn('stopped; requests that had not finished were cut off')
  return 0
}

/** Continues to serve, so that load balancers see that the server is not ready before it refuses connections. */
async function serveOn(delayMs: number, { hurry }: Signals, log: Logger): Promise<void> {
  if (delayMs === 0) return
  log.info({ delayMs }, 'continuing to serve for --shutdown-delay; /ready now fails')
  await delay(delayMs, undefined, { signal: hurry }).catch(() => {})
}

/**
 * Starts the server. If the start hangs, for example on a network file system that does not answer, a second signal kills it.
 */
async function startUnlessHurried(
  config: Config,
  log: Logger,
  hurry: AbortSignal,
  watch: ServerWatch | undefined,
): Promise<RunningServer> {
  const giveUp = () => killWith('holdfast: Killed while starting.')
  hurry.addEventListener('abort', giveUp)
  const server = await start(config, log, watch)
  hurry.removeEventListener('abort', giveUp)
  return server
}

/** Says why on standard error, and kills this process: an exit would wait for a thread that hangs. */
function killWith(message: string): void {
  write(2, `${message}\n`, killProcess)
  // Standard error may hang, too.
  setTimeout(killProcess, lastCallsMs)
}

async function start(config: Config, log: Logger, watch?: ServerWatch): Promise<RunningServer> {
  if (config.workers === 1) return startServer(config, log, watch)
  return startWorkers(config, log, watch)
}

const endSignals = ['SIGTERM', 'SIGINT'] as const

interface Signals {
  /** Resolves with the first signal that ends the server. */
  readonly end: Promise<string>
  /** Aborts at the second such signal. */
  readonly hurry: AbortSignal
  /** Calls `reload` at every SIGHUP from now on, and once now if there was one before. */
  onReload(reload: () => void): void
}

/**
 * From now on handles the signals that the server knows. Call it before anything must be closed: a signal without a handler kills
 * the process.
 */
export function catchSignals(): Signals {
  const first = Promise.withResolvers<string>()
  const second = new AbortController()
  let isEnding = false
  const end = (signal: string) => {
    if (isEnding) second.abort()
    isEnding = true
    first.resolve(signal)
  }
  let isReloadDue = false
  let reload = () => {
    isReloadDue = true
  }
  for (const signal of endSignals) process.on(signal, end)
  process.on('SIGHUP', () => reload())
  return {
    end: first.promise,
    hurry: second.signal,
    onReload(callback) {
      reload = callback
      if (isReloadDue) callback()
    },
  }
}
