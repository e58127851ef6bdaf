import { createHash } from 'node:crypto'
import { realpath } from 'node:fs/promises'
import { constants } from 'node:os'
import { resolve } from 'node:path'
import {
  type CopyFailure,
  copyFiles,
  type CopyOptions,
  type CopyResult,
  EmptySourceError,
  type FileCount,
} from '@holdfast/copy'
import {
  type BlobStore,
  formatBytes,
  isFileServiceError,
  nameProblem,
  SetupError,
  messageOf,
} from '@holdfast/core'
import {
  type Config,
  findConfig,
  minioSecretNames,
  secretVariables,
  settingNames,
  settings,
  type StoreKind,
  type WrittenSettings,
} from '@holdfast/server/config'
import type { ClosableStore, WarningLog } from '@holdfast/server/stores'
import { visible } from '@holdfast/server/visible'
import type { Argv } from 'yargs'
import { showProgress } from './copy-progress.ts'
import {
  parseConcurrency,
  refuseFlagsOfOtherStores,
  refuseStrayWords,
  settingEnvironment,
  withSettings,
} from './flags.ts'
import { openExistingStore, refuseMissingData, unknownCustomer } from './existing-store.ts'
import { formatDuration, print, standardError } from './terminal/print.ts'
import { stopOnSignal } from './terminal/stop-on-signal.ts'
import { off } from './terminal/yargs.ts'

/** The flags of `holdfast copy` that are no settings; used to guess misspelt flags. */
export const copyFlags = [
  ...['from', 'to', 'to-data', 'customer', 'delete', 'verify', 'versions', 'concurrency'],
]

/** The flags on the command line. Other settings come from the environment and the configuration file. */
export type CopyFlags = WrittenSettings & {
  readonly from: string
  readonly to: string
  readonly 'to-data'?: string
  readonly customer?: string
  readonly delete: boolean
  readonly verify: boolean
  readonly versions: boolean
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
  const given = { ...off, group: 'Copy:' } as const
  const options = yargs
    .option('from', {
      ...text,
      demandOption: true,
      describe: 'The store to copy from: disk or minio',
    })
    .option('to', { ...text, demandOption: true, describe: 'The store to copy to: disk or minio' })
    .option('to-data', { ...text, describe: 'With --from disk --to disk: the directory to fill' })
    .option('customer', { ...text, describe: 'Only the files of this customer' })
    .option('delete', {
      ...given,
      describe: 'Remove from the target what the source does not have',
    })
    .option('verify', {
      ...given,
      describe: 'Compare the content even if entity tags are equal',
    })
    .option('versions', {
      ...given,
      describe: 'Copy what was replaced or deleted and is kept, too',
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
      'from a directory to a bucket',
    )
    .example('$0 copy --from minio --to disk --config holdfast.yaml', 'and back')
    .epilog(
      [
        'Files already in the target are kept: the same command again copies only what is missing or differs, also after it was stopped. It may run while the server takes uploads.',
        `The keys of the MinIO store come from the environment: ${keyVariables.join(' and ')}, or files that these with _FILE name.`,
      ].join('\n\n'),
    )
}

const keyVariables = minioSecretNames.map((name) => `$${secretVariables(name).value}`)

/** Copies files from one store to another; resolves with the exit code. */
export async function copy(flags: CopyFlags): Promise<number> {
  const { customer } = flags
  refuseStrayWords(flags)
  const [from, to] = [storeKind(flags.from, '--from'), storeKind(flags.to, '--to')]
  const concurrency = parseConcurrency(flags.concurrency)
  const problem = customer === undefined ? undefined : nameProblem(customer)
  if (problem !== undefined)
    throw new SetupError(`--customer "${customer}" is not a valid name: ${problem}.`)
  refuseFlagsOfOtherStores(flags, [from, to])
  refuseUnclearTarget(from, to, flags['to-data'])
  const config = await findConfig(flags, settingEnvironment(storeSettings))
  return runCopy({
    from: { kind: from, config },
    to: { kind: to, config: { ...config, data: flags['to-data'] ?? config.data } },
    customer,
    concurrency,
    removeExtra: flags.delete,
    verify: flags.verify,
    versions: flags.versions,
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
      'holdfast does not copy from MinIO to MinIO: the tools of MinIO and of S3 copy buckets within the servers.',
    )
  }
}

/** A store to copy from or to, with the settings that open it. */
interface StoreSettings {
  readonly kind: StoreKind
  readonly config: Config
}

interface CopyPlan extends Pick<
  CopyOptions,
  'customer' | 'concurrency' | 'verify' | 'versions' | 'removeExtra'
> {
  readonly from: StoreSettings
  readonly to: StoreSettings
}

/**
 * Copies in this process. Writes progress and failures to standard error and the summary to standard output. Resolves with the exit code:
 * 0 if all files are copied, 1 if not, 128 plus its number if a signal ended it.
 */
async function runCopy({ from, to, ...options }: CopyPlan): Promise<number> {
  const begin = Date.now()
  await refuseWrongSource(from, to)
  const interruption = stopOnSignal()
  const display = showProgress(standardError(), process.env)
  const log: WarningLog = { warn: (message) => display.note(`holdfast: ${visible(message)}`) }
  try {
    const result = await betweenStores(from, to, log, async (stores) => {
      if (options.versions) {
        await refuseWithoutHistory(stores.from, '--from', from.kind)
        await refuseWithoutHistory(stores.to, '--to', to.kind)
      }
      if (options.customer !== undefined) await refuseUnknownCustomer(stores, options.customer)
      return copyFiles({
        ...options,
        ...stores,
        createHash: () => createHash('sha256'),
        signal: interruption.signal,
        onProgress: (progress) => display.update(progress),
      })
    })
    display.end()
    await report(result, (Date.now() - begin) / 1000, interruption.name())
    return exitCode(result, interruption.name())
  } catch (error) {
    display.end()
    throw explain(error, options.customer)
  }
}

async function betweenStores(
  source: StoreSettings,
  target: StoreSettings,
  log: WarningLog,
  work: (stores: Stores) => Promise<CopyResult>,
): Promise<CopyResult> {
  const from = await openExistingStore(source.kind, source.config, log)
  try {
    const { openStore } = await import('@holdfast/server/stores')
    const to = await openStore(target.kind, target.config, log)
    try {
      return await work({ from, to })
    } finally {
      await to.close()
    }
  } finally {
    await from.close()
  }
}

async function report(
  result: CopyResult,
  seconds: number,
  signal: NodeJS.Signals | undefined,
): Promise<void> {
  const { failures, stoppedBy } = result
  for (const failure of failures) standardError().write(`holdfast: ${describeFailure(failure)}\n`)
  if (stoppedBy !== undefined) {
    const ending =
      signal === undefined ? `Gave up: ${visible(messageOf(stoppedBy))}.` : `Stopped by ${signal}.`
    standardError().write(`holdfast: ${ending} The same command again copies the rest.\n`)
  }
  await print(`${copySummary(result, seconds).join('\n')}\n`)
}

/** The exit code of a copy: 0 only if the target has all that the source has. `signal` is the one that stopped it. */
export function exitCode(
  { failures, stoppedBy, isCaughtUp }: CopyResult,
  signal: NodeJS.Signals | undefined,
): number {
  if (stoppedBy !== undefined && signal !== undefined) return 128 + constants.signals[signal]
  return failures.length > 0 || !isCaughtUp ? 1 : 0
}

function explain(error: unknown, customer: string | undefined): unknown {
  if (error instanceof EmptySourceError) {
    const whose = customer === undefined ? 'no file' : `no file of the customer "${customer}"`
    return new SetupError(
      `The source has ${whose}, and with --delete nothing would be left in the target`,
      ['If that is intended, empty it by hand.'],
    )
  }
  if (isFileServiceError(error)) return new SetupError(`Nothing was copied: ${error.message}.`)
  return error
}

/**
 * Refuses a source directory that does not exist, or that is also the target.
 *
 * @throws SetupError that names the directory
 */
async function refuseWrongSource(from: StoreSettings, to: StoreSettings): Promise<void> {
  if (from.kind !== 'disk') return
  const { data } = from.config
  await refuseMissingData(data)
  if (to.kind === 'disk' && (await truePath(data)) === (await truePath(to.config.data))) {
    throw new SetupError(`--data and --to-data are the same directory, ${data}.`)
  }
}

const truePath = (path: string) => realpath(path).catch(() => resolve(path))

interface Stores {
  readonly from: ClosableStore
  readonly to: ClosableStore
}

/** @throws SetupError with the reason of the store */
async function refuseWithoutHistory(
  store: ClosableStore,
  flag: string,
  kind: StoreKind,
): Promise<void> {
  if (store.history) return
  const reason = await store.historyProblem?.()
  const problem = `${flag} ${kind} keeps no earlier versions`
  throw new SetupError(problem, [
    ...(reason === undefined ? [] : [reason.replace(/\.$/, '')]),
    'Leave --versions out.',
  ])
}

/**
 * Refuses a customer without a file in either store: otherwise a misspelt name would look like a finished copy.
 *
 * @throws SetupError that names the customer, and the one that was probably meant
 */
async function refuseUnknownCustomer({ from, to }: Stores, customer: string): Promise<void> {
  if ((await hasFile(from, customer)) || (await hasFile(to, customer))) return
  const names: string[] = []
  for await (const name of from.customers()) names.push(name)
  throw unknownCustomer(`Neither store has a file of the customer "${customer}".`, customer, names)
}

async function hasFile(store: BlobStore, customer: string): Promise<boolean> {
  for await (const _names of store.list(customer, { limit: 1 })) return true
  for await (const _kept of store.history?.kept(customer) ?? []) return true
  return false
}

/** The result of a copy, one fact a line. */
export function copySummary(result: CopyResult, seconds: number): readonly string[] {
  const { copied, present, removed, extra, failures, isCaughtUp, stoppedBy } = result
  const { versions, versionsLeftOut } = result
  const lines = [
    copied.files === 0
      ? `Nothing copied, in ${formatDuration(seconds)}.`
      : `Copied and compared ${amount(copied)}, in ${formatDuration(seconds)}.`,
  ]
  if (present.files > 0) lines.push(`Already in the target: ${amount(present)}.`)
  if (versions.files > 0) {
    lines.push(`Copied earlier versions: ${versions.files}, ${formatBytes(versions.bytes)}.`)
  }
  if (versionsLeftOut > 0) {
    lines.push(`Left out: ${versionsLeftOut} earlier versions; --versions copies them.`)
  }
  if (removed > 0) lines.push(`Removed from the target: ${files(removed)}.`)
  if (extra > 0) lines.push(`Only in the target: ${files(extra)}; --delete removes them.`)
  if (failures.length > 0) lines.push(`Failed: ${files(failures.length)}.`)
  if (!isCaughtUp && stoppedBy === undefined) {
    lines.push(
      'Files were added or changed until the end: copy again when nothing is uploaded any more.',
    )
  }
  return lines
}

/** A failure as one line, even if the name has line breaks. */
export function describeFailure({ customer, name, reason }: CopyFailure): string {
  const path = name === undefined ? customer : `${customer}/${name}`
  return `${visible(path)}: ${visible(reason)}`
}

const files = (count: number) => (count === 1 ? '1 file' : `${count} files`)

const amount = (count: FileCount) => `${files(count.files)}, ${formatBytes(count.bytes)}`
