import { formatBytes, isFileServiceError, nameProblem, SetupError } from '@holdfast/core'
import type { History, Usage } from '@holdfast/core'
import { findConfig, parseTime, type Config, type WrittenSettings } from '@holdfast/server/config'
import type { Argv } from 'yargs'
import {
  refuseFlagsOfOtherStores,
  refuseStrayWords,
  settingEnvironment,
  settingsOfFiles,
  withConfig,
  withSettings,
} from './flags.ts'
import { openExistingStore, refuseMissingData, unknownCustomer } from './existing-store.ts'
import { confirm, isTerminal } from './terminal/ask.ts'
import { print, shown } from './terminal/print.ts'
import { off } from './terminal/yargs.ts'

/** The flags of `holdfast versions purge` that are no settings; used to guess misspelt flags. */
export const purgeVersionsFlags = ['customer', 'before', 'all', 'force']

/** The flags on the command line. Other settings come from the environment and the configuration file. */
export type PurgeVersionsFlags = WrittenSettings & {
  readonly customer?: string
  readonly before?: string
  readonly all: boolean
  readonly force: boolean
  readonly config?: string
  readonly '--'?: readonly string[]
}

/** `holdfast versions purge`: what an administrator does with what is kept. Other words after `versions` are names of files. */
export function versionsCommands(yargs: Argv, run: (work: Promise<number>) => Promise<void>): Argv {
  return yargs.command(
    'purge',
    'On the machine of the server: permanently remove earlier versions and deleted files',
    describePurgeVersions,
    (argv) => run(purgeVersions(argv as unknown as PurgeVersionsFlags)),
  )
}

function describePurgeVersions(yargs: Argv): Argv {
  return withConfig(withSettings(yargs, settingsOfFiles))
    .option('customer', {
      requiresArg: true,
      coerce: String,
      group: 'Purge:',
      describe: 'Only what is kept of this customer',
    })
    .option('before', {
      requiresArg: true,
      coerce: String,
      group: 'Purge:',
      describe:
        'What was replaced before a time in ISO 8601, or before a period before now such as 30d',
    })
    .option('all', { ...off, group: 'Purge:', describe: 'All that is kept' })
    .option('force', {
      alias: 'f',
      ...off,
      group: 'Purge:',
      describe: 'Remove without a question',
    })
    .example('$0 versions purge --before 7d', 'what was replaced more than a week ago')
    .example('$0 versions purge --customer alice --all', 'all earlier versions of alice')
    .epilog(
      'Give the flags that the server gets. On a terminal it asks before it removes. Files stay as they are, and the command may run while the server does.',
    )
}

/**
 * Removes what is kept; resolves with the exit code.
 *
 * @throws SetupError for what an administrator can mend, including a customer of whom nothing is kept
 */
async function purgeVersions(flags: PurgeVersionsFlags): Promise<number> {
  refuseStrayWords(flags)
  const { customer } = flags
  const problem = customer === undefined ? undefined : nameProblem(customer)
  if (problem !== undefined)
    throw new SetupError(`--customer "${customer}" is not a valid name: ${problem}.`)
  const before = timeIn(flags)
  const config = await findConfig(flags, settingEnvironment(settingsOfFiles))
  refuseFlagsOfOtherStores(flags, [config.store])
  if (config.store === 'disk') await refuseMissingData(config.data)
  const asks = !flags.force && isTerminal()
  return withHistory(config, async (history) => {
    const customers = customer === undefined ? await namesOf(history) : [customer]
    if (customer !== undefined) await refuseUnknown(history, customer)
    if (asks && !(await isWanted(history, customers, before))) {
      throw new SetupError('Nothing was removed.')
    }
    for await (const [name, { blobs, bytes }] of removeVersions(history, customers, before)) {
      await print(`${shown(name)}: removed ${amount({ blobs, bytes })}\n`)
    }
    return 0
  })
}

/** Later than every time of a replacement, even by a wrong clock. All stores can represent it. */
const endOfTime = new Date('9999-12-31T23:59:59Z')

function timeIn({ before, all }: PurgeVersionsFlags): Date {
  if (all && before === undefined) return endOfTime
  if (all || before === undefined) {
    throw new SetupError('Say either --before TIME, such as --before 30d, or --all.')
  }
  try {
    return new Date(parseTime(before))
  } catch (error) {
    throw new SetupError(`--before "${before}" ${error instanceof Error ? error.message : ''}`)
  }
}

async function withHistory(
  config: Config,
  work: (history: History) => Promise<number>,
): Promise<number> {
  const store = await openExistingStore(config.store, config)
  try {
    if (store.history) return await work(store.history)
    const reason = await store.historyProblem?.()
    throw new SetupError(reason ?? `The ${config.store} store keeps nothing that was replaced.`)
  } catch (error) {
    if (!isFileServiceError(error)) throw error
    throw new SetupError(`Not all was removed: ${error.message}.`)
  } finally {
    await store.close()
  }
}

async function namesOf(history: Pick<History, 'customers'>): Promise<readonly string[]> {
  const names: string[] = []
  for await (const name of history.customers()) names.push(name)
  return names
}

async function refuseUnknown(history: History, customer: string): Promise<void> {
  for await (const _page of history.kept(customer)) return
  const problem = `Nothing is kept of a customer "${customer}".`
  throw unknownCustomer(problem, customer, await namesOf(history))
}

/** Asks whether to remove so much. Without anything to remove there is no question. */
async function isWanted(
  history: History,
  customers: readonly string[],
  before: Date,
): Promise<boolean> {
  const { blobs, bytes } = await measureOlder(history, customers, before)
  if (blobs === 0) return true
  return confirm(`Remove ${amount({ blobs, bytes })} for good?`)
}

/** How much was replaced before a time, and is kept of the customers. */
export async function measureOlder(
  history: Pick<History, 'kept'>,
  customers: readonly string[],
  before: Date,
): Promise<Usage> {
  let [blobs, bytes] = [0, 0]
  for (const customer of customers) {
    for await (const page of history.kept(customer)) {
      const older = page.filter(({ replacedAt }) => replacedAt < before)
      blobs += older.length
      bytes += older.reduce((sum, { size }) => sum + size, 0)
    }
  }
  return { blobs, bytes }
}

/** Removes what was replaced before a time, customer by customer; yields those of whom something was removed, and at last the sum. */
export async function* removeVersions(
  history: Pick<History, 'purge'>,
  customers: readonly string[],
  before: Date,
): AsyncGenerator<readonly [what: string, removed: Usage]> {
  let [blobs, bytes] = [0, 0]
  for (const customer of customers) {
    const removed = await history.purge(customer, before)
    if (removed.blobs > 0) yield [customer, removed]
    blobs += removed.blobs
    bytes += removed.bytes
  }
  if (customers.length !== 1 || blobs === 0) yield ['in all', { blobs, bytes }]
}

function amount({ blobs, bytes }: Usage): string {
  return `${blobs === 1 ? '1 version' : `${blobs} versions`}, ${formatBytes(bytes)}`
}
