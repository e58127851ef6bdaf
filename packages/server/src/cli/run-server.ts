import pino, { type Logger } from 'pino'
import type { Config } from '../config/resolve-config.ts'
import { placeOf } from '../serve/open-store.ts'
import { startServer, type RunningServer } from '../serve/start-server.ts'
import { catchSignals, type Signals } from './signals.ts'

/** Lines that nobody takes are dropped beyond this, rather than that the memory fills up. In bytes. */
const logBuffer = 16 * 1024 * 1024

/**
 * Runs a server in this process, with the log on standard output, until a signal ends it; resolves with the exit
 * code.
 */
export async function runServer(config: Config): Promise<number> {
  const log = pino(
    { level: config['log-level'] },
    pino.destination({ fd: 1, maxLength: logBuffer }),
  )
  dieAloud(log)
  const signals = catchSignals()
  const server = await startUnlessHurried(config, log, signals.hurry)
  log.info(
    { url: server.url, store: config.store, ...placeOf(config.store, config) },
    `holdfast listens on ${server.url}`,
  )
  return untilSignalled(signals, server, log)
}

/**
 * A start that is held up, as by a network file system that does not answer, ends at the second signal: there is
 * nothing to finish.
 */
async function startUnlessHurried(
  config: Config,
  log: Logger,
  hurry: AbortSignal,
): Promise<RunningServer> {
  const giveUp = () => {
    process.stderr.write('holdfast: Killed while starting.\n')
    // Exiting would wait for the thread that is held up, and so might the log, which is written by a thread as well.
    process.kill(process.pid, 'SIGKILL')
  }
  hurry.addEventListener('abort', giveUp)
  const server = await startServer(config, log)
  hurry.removeEventListener('abort', giveUp)
  return server
}

async function untilSignalled(
  signals: Signals,
  server: RunningServer,
  log: Logger,
): Promise<number> {
  signals.onReload(() => void server.reload())
  const signal = await signals.end
  log.info({ signal }, 'finishing the requests under way')
  const isClean = await server.close(signals.hurry)
  if (isClean) log.info('stopped')
  else log.warn('stopped; requests that had not finished were cut off')
  return 0
}

/**
 * A fault that nobody caught leaves the process in no known state: it ends, and whoever supervises it starts it anew.
 */
function dieAloud(log: Logger): void {
  for (const event of ['uncaughtException', 'unhandledRejection'] as const) {
    process.on(event, (error: unknown) => {
      log.fatal({ err: error }, event)
      process.exit(1)
    })
  }
}
