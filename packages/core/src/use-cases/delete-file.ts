import type { Customer } from '../model/customer.ts'
import { FileServiceError } from '../model/errors.ts'
import { checkFileName } from '../model/file-name.ts'
import type { QuotaKeeper } from '../policy/quota-keeper.ts'
import type { BlobStore } from '../ports/blob-store.ts'

/**
 * Deletes the customer's file `name`. When it resolves, the file is deleted durably.
 *
 * @throws FileServiceError `invalid-file-name`, `not-found`, `store-unavailable`
 */
export async function deleteFile(
  store: BlobStore,
  quotas: QuotaKeeper,
  customer: Customer,
  name: string,
): Promise<void> {
  checkFileName(name)
  const removed = await quotas.free(customer, name, () =>
    store.delete({ customer: customer.name, name }),
  )
  if (!removed) throw new FileServiceError('not-found', 'File not found')
}
