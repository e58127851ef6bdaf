import { nameProblem, SetupError } from '@holdfast/core'
import type { Argv } from 'yargs'
import {
  findConfig,
  secretNames,
  secretVariables,
  settingNames,
  settings,
  type StoreKind,
  type WrittenSettings,
} from '@holdfast/server/config'
import {
  parseConcurrency,
  refuseIdleFlags,
  settingEnvironment,
  withSettings,
  refuseRest,
} from './settings/flags.ts'

/** The flags of `holdfast copy` that are no settings, to guess which one was meant. */
export const copyFlags = ['from', 'to', 'to-data', 'customer', 'delete', 'verify', 'concurrency']

/** What the command line gives. Other settings come from the environment and the configuration file. */
export type CopyFlags = WrittenSettings & {
  readonly from: string
  readonly to: string
  readonly 'to-data'?: string
  readonly customer?: string
  readonly delete: boolean
  readonly verify: boolean
  readonly concurrency: string
  readonly config?: string
  readonly '--'?: readonly string[]
}

const storeSettings = settingNames.filter(
  (name) => settings[name].store !== undefined && !settings[name].isForServing,
)

/** The options of `holdfast copy`. */
export function describeCopy(yargs: Argv): Argv {
  const text = { type: 'string', requiresArg: true, group: 'Copy:' } as const
  const given = {
    type: 'boolean',
    default: false,
    defaultDescription: 'no',
    group: 'Copy:',
  } as const
  const options = yargs
    .option('from', { ...text, demandOption: true, describe: 'Where files are: disk or minio' })
    .option('to', { ...text, demandOption: true, describe: 'Where they are copied: disk or minio' })
    .option('to-data', { ...text, describe: 'With --from disk --to disk: the directory to fill' })
    .option('customer', { ...text, describe: 'Only the files of this customer' })
    .option('delete', {
      ...given,
      describe: 'Remove from the target what the source does not have',
    })
    .option('verify', {
      ...given,
      describe: 'Compare by content also what entity tags say is the same',
    })
    .option('concurrency', { ...text, default: '8', describe: 'Files at a time, 1 to 64' })
  return withSettings(options, storeSettings)
    .option('config', {
      requiresArg: true,
      group: 'Copy:',
      describe:
        'Configuration file of the server, for the settings of its store [$HOLDFAST_CONFIG]',
    })
    .example(
      '$0 copy --from disk --data ./data --to minio --minio-endpoint http://localhost:9000 --minio-bucket files',
      'move house',
    )
    .example('$0 copy --from minio --to disk --config holdfast.yaml', 'and back')
    .epilog(
      [
        'What is there already stays: the same command again copies only what is missing or differs, also after it was stopped. It may run while the server takes uploads.',
        `The keys of the MinIO store come from the environment: ${keyVariables.join(' and ')}, or files that these with _FILE name.`,
      ].join('\n\n'),
    )
}

const keyVariables = secretNames.map((name) => `$${secretVariables(name).value}`)

/** Copies files from one store to another; resolves with the exit code. */
export async function copy(flags: CopyFlags): Promise<number> {
  const { customer } = flags
  refuseRest(flags)
  const [from, to] = [storeKind(flags.from, '--from'), storeKind(flags.to, '--to')]
  const concurrency = parseConcurrency(flags.concurrency)
  const problem = customer === undefined ? undefined : nameProblem(customer)
  if (problem !== undefined)
    throw new SetupError(`--customer "${customer}" is no name: ${problem}.`)
  refuseIdleFlags(flags, [from, to])
  refuseUnclearTarget(from, to, flags['to-data'])
  const config = await findConfig(flags, settingEnvironment(storeSettings))
  // Loaded only now: help and mistakes are answered twice as fast without the stores.
  const { runCopy } = await import('./copy/run-copy.ts')
  return runCopy({
    from: { kind: from, config },
    to: { kind: to, config: { ...config, data: flags['to-data'] ?? config.data } },
    customer,
    concurrency,
    removeExtra: flags.delete,
    verify: flags.verify,
  })
}

function storeKind(value: string, flag: string): StoreKind {
  try {
    return settings.store.parse(value)
  } catch (error) {
    throw new SetupError(`${flag} "${value}" ${error instanceof Error ? error.message : ''}.`)
  }
}

function refuseUnclearTarget(from: StoreKind, to: StoreKind, toData: string | undefined): void {
  if (from === 'disk' && to === 'disk') {
    if (toData === undefined) {
      throw new SetupError('From disk to disk: say which directory to fill, with --to-data.')
    }
  } else if (toData !== undefined) {
    throw new SetupError('--to-data is for copies from disk to disk; the disk store has --data.')
  } else if (from === to) {
    throw new SetupError(
      'From MinIO to MinIO is not for holdfast: the tools of MinIO and of S3 copy buckets, within the servers.',
    )
  }
}
