import type { Customer } from '../model/customer.ts'
import type { BlobStore } from '../ports/blob-store.ts'

/** What a customer keeps, and may keep. */
export interface CustomerUsage {
  /** How many files. */
  readonly files: number
  /** The sum of their sizes in bytes. */
  readonly bytes: number
  /** Uploads in pieces that are not published yet, and how many bytes of them have arrived; these count in the quota. */
  readonly unfinished: { readonly uploads: number; readonly bytes: number }
  /** The most bytes; left out where there is no limit. */
  readonly quota?: number
  /** The most files; left out where there is no limit. */
  readonly maxFiles?: number
}

/**
 * Counts what the customer keeps. It takes as long as a list. A file that comes or goes meanwhile may be counted or not; uploads
 * that are under way without pieces are not counted.
 *
 * @throws FileServiceError `store-unavailable`
 */
export async function usageOf(
  store: BlobStore,
  { name, quota, maxFiles }: Customer,
): Promise<CustomerUsage> {
  // Before the files: an upload that is published meanwhile may count twice, but not be missed.
  const unfinished = await unfinishedOf(store, name)
  const { blobs: files, bytes } = await store.usage(name)
  return {
    files,
    bytes,
    unfinished,
    ...(isLimit(quota) && { quota }),
    ...(isLimit(maxFiles) && { maxFiles }),
  }
}

function isLimit(limit: number | undefined): limit is number {
  return limit !== undefined && limit !== Infinity
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
