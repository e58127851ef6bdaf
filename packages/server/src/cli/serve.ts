import pino, { type Logger } from 'pino'
import type { Argv } from 'yargs'
import { readConfigFile, type WrittenSettings } from '../config/read-config-file.ts'
import { resolveConfig } from '../config/resolve-config.ts'
import { environmentName, settingNames, settings } from '../config/settings.ts'
import { startServer, type RunningServer } from '../serve/start-server.ts'
import { catchSignals, type Signals } from './signals.ts'
import { UsageError } from './usage-error.ts'

/** The options of `holdfast serve`. */
export function describeServe(yargs: Argv): Argv {
  for (const name of settingNames) {
    const { describe, default: byDefault } = settings[name]
    yargs.option(name, {
      type: 'string',
      requiresArg: true,
      describe: `${describe} [$${environmentName(name)}]`,
      ...(byDefault !== undefined && { defaultDescription: byDefault }),
    })
  }
  return yargs
    .option('config', {
      type: 'string',
      requiresArg: true,
      describe: 'YAML or JSON file with these settings [$HOLDFAST_CONFIG]',
    })
    .example('$0 serve', 'serve ./data on http://127.0.0.1:3000')
    .example(
      '$0 serve --host 0.0.0.0 --port 8080 --data /srv/files',
      'serve another directory to the network',
    )
    .example('$0 serve --config holdfast.yaml', 'take the settings from a file')
    .epilog(
      'A flag wins over its environment variable, that over the configuration file. SIGHUP reloads the customers; SIGTERM and SIGINT finish the requests under way.',
    )
}

/** What the command line says; everything else comes from elsewhere. */
export type ServeFlags = WrittenSettings & {
  readonly config?: string
  readonly '--'?: readonly string[]
}

/** Serves until a signal ends it; resolves with the exit code. */
export async function serve(flags: ServeFlags): Promise<number> {
  const [stray] = flags['--'] ?? []
  if (stray !== undefined) throw new UsageError(`Nothing goes behind "--" here: "${stray}".`)
  const filePath = flags.config ?? (process.env['HOLDFAST_CONFIG'] || undefined)
  const file = filePath === undefined ? {} : await readConfigFile(filePath)
  const config = resolveConfig({ flags, environment: process.env, file, filePath })
  const log = pino({ level: config['log-level'] })
  const signals = catchSignals()
  const server = await startServer(config, log)
  log.info(
    { url: server.url, store: config.store, data: config.data },
    `holdfast listens on ${server.url}`,
  )
  dieAloud(log)
  return untilSignalled(signals, server, log)
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

/** A fault that nobody caught leaves the process in no known state: it ends, and whoever supervises it starts it anew. */
function dieAloud(log: Logger): void {
  for (const event of ['uncaughtException', 'unhandledRejection'] as const) {
    process.on(event, (error: unknown) => {
      log.fatal({ err: error }, event)
      process.exit(1)
    })
  }
}
