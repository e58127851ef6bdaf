import type { Customer } from '../model/customer.ts'
import type { Measure } from '../policy/recent-values.ts'
import type { BlobStore } from '../ports/blob-store.ts'
import type { Right } from '../ports/credential-source.ts'

/** How much a customer keeps, and how much is allowed. */
export interface CustomerUsage {
  /** How many files. */
  readonly files: number
  /** The sum of their sizes in bytes. */
  readonly bytes: number
  /** The unpublished uploads in pieces, and their bytes that have arrived; these bytes count in the quota. */
  readonly unfinished: { readonly uploads: number; readonly bytes: number }
  /**
   * Earlier versions and deleted files, which do not count in the quota; absent if they are not kept. If counting takes long, the number
   * may be some minutes old.
   */
  readonly kept?: { readonly versions: number; readonly bytes: number }
  /** The most bytes; absent if there is no limit. */
  readonly quota?: number
  /** The most files; absent if there is no limit. */
  readonly maxFiles?: number
  /** By which further login the customer asks; absent for the customer's own. */
  readonly login?: string
  /** What that login may do; absent if it may do everything. */
  readonly may?: readonly Right[]
}

/**
 * Counts the customer's files, and with `isKeeping` the earlier versions and deleted files by `measureKept`. It takes as long as a
 * list. A file that is stored or deleted meanwhile may be counted or not; uploads of whole files that are under way are not counted.
 *
 * @throws FileServiceError `store-unavailable`
 */
export async function usageOf(
  store: BlobStore,
  { name, quota, maxFiles, login, may }: Customer,
  isKeeping = false,
  measureKept: Measure<CustomerUsage['kept']> = (customer) => keptOf(store, customer),
): Promise<CustomerUsage> {
  // Counted before the files, so that an upload that is published meanwhile may be counted twice, but is not missed.
  const unfinished = await unfinishedOf(store, name)
  const { blobs: files, bytes } = await store.usage(name)
  const kept = isKeeping ? await measureKept(name) : undefined
  return {
    files,
    bytes,
    unfinished,
    ...(kept && { kept }),
    ...(isLimit(quota) && { quota }),
    ...(isLimit(maxFiles) && { maxFiles }),
    ...(login !== undefined && { login }),
    ...(may !== undefined && { may }),
  }
}

function isLimit(limit: number | undefined): limit is number {
  return limit !== undefined && limit !== Infinity
}

/** Counts a customer's earlier versions and deleted files. */
export async function keptOf(store: BlobStore, customer: string) {
  let versions = 0
  let bytes = 0
  for await (const page of store.history?.kept(customer) ?? []) {
    versions += page.length
    for (const { size } of page) bytes += size
  }
  return { versions, bytes }
}

async function unfinishedOf(store: BlobStore, customer: string) {
  let uploads = 0
  let bytes = 0
  for await (const page of store.resumable?.list(customer) ?? []) {
    uploads += page.length
    for (const { offset } of page) bytes += offset
  }
  return { uploads, bytes }
}
