import type { Logger } from 'pino'
import type { Config } from '../config/resolve-config.ts'
import { placeOf } from '../serve/open-store.ts'
import { startServer, type RunningServer } from '../serve/start-server.ts'
import { createLog } from './create-log.ts'
import { catchSignals, type Signals } from './signals.ts'

/**
 * Runs a server in this process and its workers, with the log on standard output, until a signal ends it; resolves with
 * the exit code.
 */
export async function runServer(config: Config): Promise<number> {
  const log = createLog(config)
  const signals = catchSignals()
  const server = await startUnlessHurried(config, log, signals.hurry)
  log.info(
    {
      url: server.url,
      store: config.store,
      ...placeOf(config.store, config),
      ...(config.workers > 1 && { workers: config.workers }),
    },
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
  const server = await start(config, log)
  hurry.removeEventListener('abort', giveUp)
  return server
}

async function start(config: Config, log: Logger): Promise<RunningServer> {
  if (config.workers === 1) return startServer(config, log)
  const { startWorkers } = await import('../workers/start-workers.ts')
  return startWorkers(config, log)
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
