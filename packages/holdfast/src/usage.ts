import { mergeByName } from '@holdfast/copy'
import {
  type BlobStore,
  compareUtf8,
  type Customer,
  formatBytes,
  isFileServiceError,
  nameProblem,
  SetupError,
  usageOf as countUsage,
} from '@holdfast/core'
import { type Config, findConfig, type WrittenSettings } from '@holdfast/server/config'
import { visible } from '@holdfast/server/visible'
import type { Argv } from 'yargs'
import {
  type NameArgument,
  onlyName,
  refuseFlagsOfOtherStores,
  settingEnvironment,
  settingsOfFiles,
  withConfig,
  withSettings,
} from './flags.ts'
import { openExistingStore, refuseMissingData, unknownCustomer } from './existing-store.ts'
import { jsonLine, print } from './terminal/print.ts'
import { off } from './terminal/yargs.ts'

/** The flags of `holdfast usage` that are no settings; used to guess misspelt flags. */
export const usageFlags = ['json']

/** The flags on the command line. Other settings come from the environment and the configuration file. */
export type UsageFlags = WrittenSettings &
  NameArgument & {
    readonly json: boolean
    readonly config?: string
  }

/** The arguments and options of `holdfast usage`. */
export function describeUsage(yargs: Argv): Argv {
  return withConfig(withSettings(yargs, settingsOfFiles))
    .positional('name', {
      type: 'string',
      describe: 'Only this customer; after -- if the name begins with a dash',
    })
    .option('json', {
      ...off,
      describe: 'Print a line of JSON for each customer, as soon as it is counted',
    })
    .example('$0 usage', 'a table of all customers')
    .example('$0 usage alice --data /srv/files', 'one customer')
    .example('$0 usage --config holdfast.yaml --json', 'for a program')
    .epilog(
      'Give the flags that the server gets. The command looks at every file, changes none, and may run while the server does. Of uploads under way it counts only those in pieces, as unfinished.',
    )
}

/** Prints what customers keep; resolves with the exit code. */
export async function usage(flags: UsageFlags): Promise<number> {
  const customer = customerIn(flags)
  const config = await findConfig(flags, settingEnvironment(settingsOfFiles))
  refuseFlagsOfOtherStores(flags, [config.store])
  return runUsage(config, { customer, isJson: flags.json })
}

/** The customer named on the command line, if there is one. */
function customerIn(flags: UsageFlags): string | undefined {
  const name = onlyName(flags)
  const problem = name === undefined ? undefined : nameProblem(name)
  if (problem !== undefined) throw new SetupError(`"${name}" is not a valid name: ${problem}.`)
  return name
}

interface UsageRequest {
  /** Default: all customers. */
  readonly customer: string | undefined
  /** Whether to print a line of JSON for each customer, as soon as it is counted, instead of a table. */
  readonly isJson: boolean
}

/**
 * Prints what customers keep; resolves with the exit code.
 *
 * @throws SetupError for what an administrator can mend, including an unknown customer
 */
async function runUsage(config: Config, { customer, isJson }: UsageRequest): Promise<number> {
  if (config.store === 'disk') await refuseMissingData(config.data)
  const quotas = await readQuotas(config)
  const store = await openExistingStore(config.store, config)
  try {
    const usages =
      customer === undefined
        ? customerUsages(store, quotas)
        : onlyUsage(store, quotas, customer, config.customers)
    await (isJson ? printLines(usages) : printTable(usages))
    return 0
  } catch (error) {
    if (isFileServiceError(error))
      throw new SetupError(`Not all files were counted: ${error.message}.`)
    throw error
  } finally {
    await store.close()
  }
}

async function readQuotas({ customers }: Config): Promise<Quotas> {
  const { openFileCredentialSource } = await import('@holdfast/credentials-file')
  const source = await openFileCredentialSource(customers, { pollIntervalMs: 0 })
  const quotas = new Map(source.customers().map((name) => [name, source.find(name) ?? {}]))
  await source.close()
  return quotas
}

async function* onlyUsage(
  store: BlobStore,
  quotas: Quotas,
  customer: string,
  path: string,
): AsyncGenerator<CustomerUsage> {
  const usage = await usageOf(store, quotas, customer)
  if (!usage.isListed && !keepsAny(usage)) {
    const problem = `There is no customer "${customer}": neither ${path} nor the store has one of that name.`
    throw unknownCustomer(problem, customer, [...quotas.keys()])
  }
  yield usage
}

/** Whether anything of the customer is in the store. */
function keepsAny({ files, unfinished, kept }: CustomerUsage): boolean {
  return files > 0 || unfinished.uploads > 0 || (kept?.versions ?? 0) > 0
}

async function printTable(usages: AsyncIterable<CustomerUsage>): Promise<void> {
  const all: CustomerUsage[] = []
  for await (const usage of usages) all.push(usage)
  await print(`${usageTable(all).join('\n')}\n`)
}

async function printLines(usages: AsyncIterable<CustomerUsage>): Promise<void> {
  for await (const usage of usages) {
    const { customer, files, bytes, quota = null, maxFiles = null, isListed: listed } = usage
    const { uploads: unfinishedUploads, bytes: unfinishedBytes } = usage.unfinished
    const share = shareOf(usage) ?? null
    const unfinished = { unfinishedUploads, unfinishedBytes }
    const kept = { keptVersions: usage.kept?.versions ?? 0, keptBytes: usage.kept?.bytes ?? 0 }
    const line = { customer, files, bytes, ...unfinished, ...kept, quota, share, maxFiles, listed }
    await print(jsonLine(line))
  }
}

/** What one customer keeps. */
export interface CustomerUsage {
  readonly customer: string
  readonly files: number
  readonly bytes: number
  /** Incomplete uploads in pieces, and the bytes that have arrived of them. */
  readonly unfinished: { readonly uploads: number; readonly bytes: number }
  /** Earlier versions and deleted files, outside the quota; absent if the store keeps none. */
  readonly kept?: { readonly versions: number; readonly bytes: number }
  /** Bytes; `undefined` for no limit, and for customers who are not in the customers file. */
  readonly quota: number | undefined
  /** `undefined` for no limit, and for customers who are not in the customers file. */
  readonly maxFiles: number | undefined
  /** Whether the customers file has the customer. */
  readonly isListed: boolean
}

/** The limits of the customers in the customers file, by name. */
type Quotas = ReadonlyMap<string, Pick<Customer, 'quota' | 'maxFiles'>>

/**
 * What each customer keeps: those in `quotas`, with or without files, and all others who have files, in order of the names' UTF-8 bytes.
 * Each is counted when the iterator asks for it.
 */
export async function* customerUsages(
  store: BlobStore,
  quotas: Quotas,
): AsyncGenerator<CustomerUsage> {
  const listed = [...quotas.keys()].sort(compareUtf8)
  for await (const { name } of mergeByName([named(listed), named(store.customers())])) {
    const usage = await usageOf(store, quotas, name)
    // A store may still name customers who have no file any more.
    if (usage.isListed || usage.files > 0 || (usage.kept?.versions ?? 0) > 0) yield usage
  }
}

/** What one customer keeps, even if there is no such customer. */
export async function usageOf(
  store: BlobStore,
  quotas: Quotas,
  customer: string,
): Promise<CustomerUsage> {
  const hasHistory = store.history !== undefined
  const found = await countUsage(store, { name: customer }, hasHistory)
  const { files, bytes, unfinished, kept } = found
  const { quota, maxFiles } = quotas.get(customer) ?? {}
  const isListed = quotas.has(customer)
  return { customer, files, bytes, unfinished, ...(kept && { kept }), quota, maxFiles, isListed }
}

/**
 * The used part of the quota, including unfinished uploads; above 1 after the quota was lowered. `undefined` if there is no quota, or it
 * is 0.
 */
export function shareOf({
  bytes,
  unfinished,
  quota,
}: Pick<CustomerUsage, 'bytes' | 'unfinished' | 'quota'>) {
  return quota === undefined || quota === 0 ? undefined : (bytes + unfinished.bytes) / quota
}

async function* named(
  names: Iterable<string> | AsyncIterable<string>,
): AsyncGenerator<{ name: string }> {
  for await (const name of names) yield { name }
}

const columns = ['files', 'size', 'unfinished', 'kept', 'quota', 'used', 'customer'] as const

type Row = Readonly<Record<(typeof columns)[number], string>>

const heading: Row = {
  files: 'files',
  size: 'size',
  unfinished: 'unfinished',
  kept: 'kept',
  quota: 'quota',
  used: 'used',
  customer: 'customer',
}

/** `usages` as lines of aligned columns, with the sum if there are several. Names come last, since their width varies. */
export function usageTable(usages: readonly CustomerUsage[]): readonly string[] {
  const rows = usages.map(toRow)
  const lines = usages.length > 1 ? [heading, ...rows, sumOf(usages)] : [heading, ...rows]
  const hasUnfinished = usages.some(({ unfinished }) => unfinished.uploads > 0)
  const hasKept = usages.some(({ kept }) => (kept?.versions ?? 0) > 0)
  const shown = columns.filter(
    (column) => (column !== 'unfinished' || hasUnfinished) && (column !== 'kept' || hasKept),
  )
  const widths = new Map(
    shown.map((column) => [column, Math.max(...lines.map((line) => line[column].length))]),
  )
  return lines.map((line) =>
    shown
      .map((column) =>
        column === 'customer' ? line[column] : line[column].padStart(widths.get(column) ?? 0),
      )
      .join('  '),
  )
}

function toRow(usage: CustomerUsage): Row {
  const { customer, files, bytes, unfinished, kept, quota, maxFiles, isListed } = usage
  return {
    files: maxFiles === undefined ? `${files}` : `${files}/${maxFiles}`,
    size: formatBytes(bytes),
    unfinished: countText(unfinished.uploads, unfinished.bytes),
    kept: countText(kept?.versions ?? 0, kept?.bytes ?? 0),
    quota: quota === undefined ? '-' : formatBytes(quota),
    used: percent(shareOf(usage)),
    customer: isListed ? visible(customer) : `${visible(customer)} (not in the customers file)`,
  }
}

function countText(count: number, bytes: number): string {
  return count === 0 ? '-' : `${count} of ${formatBytes(bytes)}`
}

function percent(share: number | undefined): string {
  if (share === undefined) return '-'
  if (share > 0 && share < 0.01) return '<1%'
  // Rounded down: 100% means that there is no room.
  return `${Math.floor(share * 100)}%`
}

function sumOf(usages: readonly CustomerUsage[]): Row {
  const sum = (of: (usage: CustomerUsage) => number) =>
    usages.reduce((total, usage) => total + of(usage), 0)
  return {
    files: `${sum(({ files }) => files)}`,
    size: formatBytes(sum(({ bytes }) => bytes)),
    unfinished: countText(
      sum(({ unfinished }) => unfinished.uploads),
      sum(({ unfinished }) => unfinished.bytes),
    ),
    kept: countText(
      sum(({ kept }) => kept?.versions ?? 0),
      sum(({ kept }) => kept?.bytes ?? 0),
    ),
    quota: '',
    used: '',
    customer: `${usages.length} customers in all`,
  }
}
