import type { Customer } from '../model/customer.ts'
import type { BlobStore, ListOptions } from '../ports/blob-store.ts'

/**
 * The names of the customer's files in ascending order of their UTF-8 bytes, as they come; nothing when there are none.
 *
 * @throws RangeError when `limit` is not an integer of 1 or more
 * @throws FileServiceError `store-unavailable`
 */
export function listFiles(
  store: BlobStore,
  customer: Customer,
  options: ListOptions = {},
): AsyncIterable<string> {
  const { limit } = options
  if (limit !== undefined && !(Number.isSafeInteger(limit) && limit >= 1)) {
    throw new RangeError(`limit must be an integer of 1 or more, not ${limit}`)
  }
  return store.list(customer.name, options)
}
