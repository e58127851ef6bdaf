import type { Argv } from 'yargs'
import type { WrittenSettings } from '../config/read-config-file.ts'
import { environmentName, settingNames, settings } from '../config/settings.ts'
import { findConfig } from './find-config.ts'
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
  const config = await findConfig(flags, process.env)
  // Loaded only now: help, mistakes and the other commands are answered twice as fast without a server in memory.
  const { runServer } = await import('./run-server.ts')
  return runServer(config)
}
