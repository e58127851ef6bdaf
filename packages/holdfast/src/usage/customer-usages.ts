import { mergeSorted } from '@holdfast/copy'
import { compareUtf8, usageOf as countUsage, type BlobStore, type Customer } from '@holdfast/core'

/** What one customer keeps. */
export interface CustomerUsage {
  readonly customer: string
  readonly files: number
  readonly bytes: number
  /** Uploads in pieces that are not complete yet, and what has arrived of them. */
  readonly unfinished: { readonly uploads: number; readonly bytes: number }
  /** Bytes; `undefined` for no limit, and for customers who are not in the customers file. */
  readonly quota: number | undefined
  /** `undefined` for no limit, and for customers who are not in the customers file. */
  readonly maxFiles: number | undefined
  /** Whether the customers file has the customer. */
  readonly isListed: boolean
}

/** What is known of the customers in the customers file, by their names. */
export type Quotas = ReadonlyMap<string, Pick<Customer, 'quota' | 'maxFiles'>>

/**
 * What each customer keeps: those in `quotas`, with or without files, and all others who have files. In order of the
 * names' UTF-8 bytes; each is counted when the iterator asks for it.
 */
export async function* customerUsages(
  store: BlobStore,
  quotas: Quotas,
): AsyncGenerator<CustomerUsage> {
  const listed = [...quotas.keys()].sort(compareUtf8)
  for await (const { value } of mergeSorted(eachOf(listed), store.customers())) {
    const usage = await usageOf(store, quotas, value)
    // A store may still name customers who have no file any more.
    if (usage.isListed || usage.files > 0) yield usage
  }
}

/** What one customer keeps, whether or not there is such a customer. */
export async function usageOf(
  store: BlobStore,
  quotas: Quotas,
  customer: string,
): Promise<CustomerUsage> {
  const { files, bytes, unfinished } = await countUsage(store, { name: customer })
  const { quota, maxFiles } = quotas.get(customer) ?? {}
  return { customer, files, bytes, unfinished, quota, maxFiles, isListed: quotas.has(customer) }
}

/**
 * The used part of the quota, unfinished uploads included, above 1 after it was lowered; `undefined` if there is no quota, or
 * if it is 0.
 */
export function shareOf({
  bytes,
  unfinished,
  quota,
}: Pick<CustomerUsage, 'bytes' | 'unfinished' | 'quota'>) {
  return quota === undefined || quota === 0 ? undefined : (bytes + unfinished.bytes) / quota
}

async function* eachOf(names: readonly string[]): AsyncGenerator<string> {
  yield* names
}
