import type { Argv } from 'yargs'
import {
  findConfig,
  secretNames,
  secretVariables,
  settingNames,
  type WrittenSettings,
} from '@holdfast/server/config'
import {
  refuseFlagsOfOtherStores,
  refuseFlagsWithoutSharedUrl,
  withSettings,
  refuseStrayWords,
} from './flags.ts'

/** The options of `holdfast serve`. */
export function describeServe(yargs: Argv): Argv {
  return withSettings(yargs, settingNames)
    .option('config', {
      requiresArg: true,
      group: 'Server:',
      describe: 'YAML or JSON file with these settings [$HOLDFAST_CONFIG]',
    })
    .example('$0 serve', 'serve ./data on http://127.0.0.1:3000')
    .example(
      '$0 serve --host 0.0.0.0 --port 8080 --data /srv/files',
      'serve another directory to the network',
    )
    .example('$0 serve --config holdfast.yaml', 'take the settings from a file')
    .example('$0 serve --host 0.0.0.0 --tls-cert cert.pem --tls-key key.pem', 'serve HTTPS')
    .example(
      '$0 serve --store minio --minio-endpoint http://localhost:9000 --minio-bucket files',
      'keep files in a bucket',
    )
    .epilog(
      [
        'A flag wins over its environment variable, that over the configuration file.',
        keysEpilog,
        'SIGHUP reloads the customers and the certificate, and reopens the audit log; SIGTERM and SIGINT finish the requests under way.',
      ].join('\n\n'),
    )
}

/** The keys are no options: an option could be given as a flag. */
const keysEpilog = [
  'The keys of the MinIO store, the passwords for Valkey or Redis, and the secret of events come from the environment only, as they are or by the path of a file:',
  ...secretNames.map((name) => {
    const { value, file } = secretVariables(name)
    return `  $${value}, or $${file}`
  }),
].join('\n')

/** The flags on the command line. Other settings come from the environment and the configuration file. */
export type ServeFlags = WrittenSettings & {
  readonly config?: string
  readonly '--'?: readonly string[]
}

/** Serves until a signal ends it; resolves with the exit code. */
export async function serve(flags: ServeFlags): Promise<number> {
  refuseStrayWords(flags)
  const config = await findConfig(flags, process.env)
  refuseFlagsOfOtherStores(flags, [config.store])
  refuseFlagsWithoutSharedUrl(flags, config)
  // Loaded only now: without the server, help, error messages and other commands come twice as fast.
  const { runServer } = await import('@holdfast/server/run')
  return runServer(config)
}
