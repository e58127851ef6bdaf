import { mergeSorted } from '@holdfast/copy'
import { compareUtf8, type BlobStore, type Customer } from '@holdfast/core'

/** What one customer keeps. */
export interface CustomerUsage {
  readonly customer: string
  readonly files: number
  readonly bytes: number
  /** Bytes; `undefined` for no limit, and for those whom the customers file does not have. */
  readonly quota: number | undefined
  /** `undefined` for no limit, and for those whom the customers file does not have. */
  readonly maxFiles: number | undefined
  /** Whether the customers file has the customer. */
  readonly isListed: boolean
}

/** What is known of the customers in the customers file, by their names. */
export type Quotas = ReadonlyMap<string, Pick<Customer, 'quota' | 'maxFiles'>>

/**
 * What each customer keeps, in order of their names' UTF-8 bytes, each counted when it is asked for: those in `quotas`,
 * with or without files, and all others who have files.
 */
export async function* customerUsages(
  store: BlobStore,
  quotas: Quotas,
): AsyncGenerator<CustomerUsage> {
  const listed = [...quotas.keys()].sort(compareUtf8)
  for await (const { value } of mergeSorted(eachOf(listed), store.customers())) {
    const usage = await usageOf(store, quotas, value)
    // A store need not forget who had files once.
    if (usage.isListed || usage.files > 0) yield usage
  }
}

/** What one customer keeps, whether or not there is such a customer. */
export async function usageOf(
  store: BlobStore,
  quotas: Quotas,
  customer: string,
): Promise<CustomerUsage> {
  const { blobs: files, bytes } = await store.usage(customer)
  const { quota, maxFiles } = quotas.get(customer) ?? {}
  return { customer, files, bytes, quota, maxFiles, isListed: quotas.has(customer) }
}

/** The part of the quota that is used, above 1 where it was lowered; `undefined` where there is no quota, or none to use. */
export function shareOf({ bytes, quota }: Pick<CustomerUsage, 'bytes' | 'quota'>) {
  return quota === undefined || quota === 0 ? undefined : bytes / quota
}

async function* eachOf(names: readonly string[]): AsyncGenerator<string> {
  yield* names
}
