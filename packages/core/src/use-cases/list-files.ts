import type { Customer } from '../model/customer.ts'
import type { BlobInfo } from '../ports/blob-info.ts'
import type { ListOptions } from '../ports/blob.ts'
import type { BlobStore } from '../ports/blob-store.ts'

/**
 * The names of the customer's files in ascending order of their UTF-8 bytes, in pages. Each page has at least one name; without
 * files there is no page.
 *
 * @throws RangeError when `limit` is not an integer of 1 or more
 * @throws FileServiceError `store-unavailable`
 */
export function listFiles(
  store: BlobStore,
  customer: Customer,
  options: ListOptions = {},
): AsyncIterable<readonly string[]> {
  requireLimit(options)
  return store.list(customer.name, options)
}

/**
 * The {@link BlobInfo} of the customer's files, in the order and pages of {@link listFiles}, with the same errors. This costs less
 * than a `statFile` for each name.
 */
export function listFileDetails(
  store: BlobStore,
  customer: Customer,
  options: ListOptions = {},
): AsyncIterable<readonly BlobInfo[]> {
  requireLimit(options)
  return store.listDetails(customer.name, options)
}

/** @throws RangeError when `limit` is not an integer of 1 or more */
export function requireLimit({ limit }: Pick<ListOptions, 'limit'>): void {
  if (limit !== undefined && !(Number.isSafeInteger(limit) && limit >= 1)) {
    throw new RangeError(`limit must be an integer of 1 or more, not ${limit}`)
  }
}
