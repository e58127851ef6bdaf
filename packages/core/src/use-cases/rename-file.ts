import type { Customer } from '../model/customer.ts'
import { FileServiceError, isFileServiceError } from '../model/errors.ts'
import { checkFileName } from '../model/file-name.ts'
import type { QuotaKeeper } from '../policy/quota-keeper.ts'
import type { BlobInfo } from '../ports/blob-info.ts'
import type { RenameOptions } from '../ports/blob.ts'
import type { BlobStore } from '../ports/blob-store.ts'
import { statFile } from './serve-file.ts'

/** What is needed to rename. */
export interface RenamePolicy {
  readonly store: BlobStore
  readonly rename: NonNullable<BlobStore['rename']>
  readonly quotas: QuotaKeeper
  /** Whether what the customer's calls replace or delete is kept. */
  readonly keeps: (customer: Customer) => boolean
}

/** The policy to rename in a store; `undefined` if the store cannot rename. */
export function renamePolicy(policy: Omit<RenamePolicy, 'rename'>): RenamePolicy | undefined {
  const { store } = policy
  return store.rename && { ...policy, rename: store.rename.bind(store) }
}

/**
 * Gives the customer's file `name` the name `to`, and replaces a file of that name unless `createOnly` is set. When it resolves, the
 * new name is durable, and the earlier one is free. If `to` is the file's name already, nothing changes. Uploads in pieces that have
 * begun for the earlier name will be published under that name. Links to the earlier name open whatever file has that name.
 *
 * @throws FileServiceError `invalid-file-name`, `not-found`, `already-exists`, `insufficient-storage`, `store-unavailable`
 */
export async function renameFile(
  { store, rename, quotas, keeps }: RenamePolicy,
  customer: Customer,
  name: string,
  to: string,
  options: RenameOptions = {},
): Promise<BlobInfo> {
  checkFileName(name)
  checkFileName(to)
  if (name === to) return statFile(store, customer, name)
  const key = { customer: customer.name, name }
  let renamed: BlobInfo | undefined
  let refusal: Error | undefined
  const replace = async () => {
    try {
      renamed = await rename(key, to, { ...options, keepReplaced: keeps(customer) })
    } catch (error) {
      // Nothing has changed, so the account stays right.
      if (!isFileServiceError(error, 'already-exists')) throw error
      refusal = error
    }
    return renamed !== undefined
  }
  await quotas.free(customer, to, replace, name)
  if (refusal) throw refusal
  if (renamed === undefined) throw new FileServiceError('not-found', 'File not found')
  return renamed
}
