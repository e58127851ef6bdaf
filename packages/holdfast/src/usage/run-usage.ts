import { closestWord, isFileServiceError, SetupError, type BlobStore } from '@holdfast/core'
import { openFileCredentialSource } from '@holdfast/credentials-file'
import type { Config } from '@holdfast/server/config'
import { visible } from '@holdfast/server/visible'
import {
  customerUsages,
  shareOf,
  usageOf,
  type CustomerUsage,
  type Quotas,
} from './customer-usages.ts'
import { jsonLine } from '../terminal/json-line.ts'
import { print } from '../terminal/print.ts'
import { standardError } from '../terminal/standard-error.ts'
import { openExistingStore } from '../settings/open-existing-store.ts'
import { refuseMissingData } from '../settings/refuse-missing-data.ts'
import { usageTable } from './usage-table.ts'

export interface UsageRequest {
  /** Default: all customers. */
  readonly customer: string | undefined
  /** A line of JSON for each customer, as soon as it is counted, instead of a table. */
  readonly isJson: boolean
}

/**
 * Prints what customers keep; resolves with the exit code.
 *
 * @throws SetupError for what an administrator can mend, an unknown customer among it
 */
export async function runUsage(
  config: Config,
  { customer, isJson }: UsageRequest,
): Promise<number> {
  if (config.store === 'disk') await refuseMissingData(config.data)
  const quotas = await readQuotas(config)
  const log = {
    warn: (message: string) => void standardError().write(`holdfast: ${visible(message)}\n`),
  }
  const store = await openExistingStore(config.store, config, log)
  try {
    const usages =
      customer === undefined
        ? customerUsages(store, quotas)
        : onlyUsage(store, quotas, customer, config.customers)
    await (isJson ? printLines(usages) : printTable(usages))
    return 0
  } catch (error) {
    if (isFileServiceError(error)) throw new SetupError(`Not all was counted: ${error.message}.`)
    throw error
  } finally {
    await store.close()
  }
}

async function readQuotas({ customers }: Config): Promise<Quotas> {
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
  if (!usage.isListed && usage.files === 0 && usage.unfinished.uploads === 0) {
    const meant = closestWord(customer, [...quotas.keys()])
    const hint = meant === undefined ? '' : ` Did you mean "${meant}"?`
    throw new SetupError(
      `There is no customer "${customer}": ${path} has none of that name, and nor does the store.${hint}`,
    )
  }
  yield usage
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
    const line = { customer, files, bytes, ...unfinished, quota, share, maxFiles, listed }
    await print(jsonLine(line))
  }
}
