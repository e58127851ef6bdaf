import type { Customer } from '../model/customer.ts'
import { FileServiceError } from '../model/errors.ts'
import { checkFileName } from '../model/file-name.ts'
import type { QuotaKeeper } from '../policy/quota-keeper.ts'
import type { BlobStore } from '../ports/blob-store.ts'

/** What is needed to delete. */
export interface DeletionPolicy {
  readonly store: BlobStore
  readonly quotas: QuotaKeeper
  /** Whether what the customer's calls replace or delete is kept. */
  readonly keeps: (customer: Customer) => boolean
}

/**
 * Deletes the customer's file `name`. When it resolves, the file is deleted durably, and kept if the
 * customer's calls keep what they delete.
 *
 * @throws FileServiceError `invalid-file-name`, `not-found`, `store-unavailable`
 */
export async function deleteFile(
  { store, quotas, keeps }: DeletionPolicy,
  customer: Customer,
  name: string,
): Promise<void> {
  checkFileName(name)
  const removed = await quotas.free(customer, name, () =>
    store.delete({ customer: customer.name, name }, { keepReplaced: keeps(customer) }),
  )
  if (!removed) throw new FileServiceError('not-found', 'File not found')
}
