import type { Customer } from '../model/customer.ts'
import { FileServiceError, isFileServiceError } from '../model/errors.ts'
import { checkFileName } from '../model/file-name.ts'
import type { QuotaKeeper } from '../policy/quota-keeper.ts'
import type { BlobStore } from '../ports/blob-store.ts'
import type { BlobInfo, ListOptions, OpenBlob, OpenOptions, RenameOptions } from '../ports/blob.ts'

/**
 * Opens the customer's file `name`. The caller must read or close it. It stays readable to its end even if it is replaced or deleted
 * meanwhile. If the range selects no byte, the file is open and its `range` is `undefined`.
 *
 * @throws FileServiceError `invalid-file-name`, `not-found`, `store-unavailable`
 */
export async function serveFile(
  store: BlobStore,
  customer: Customer,
  name: string,
  options?: OpenOptions,
): Promise<OpenBlob> {
  checkFileName(name)
  const file = await store.open({ customer: customer.name, name }, options)
  if (file === undefined) throw notFound()
  return file
}

/**
 * The {@link BlobInfo} of the customer's file `name`, without opening it.
 *
 * @throws FileServiceError `invalid-file-name`, `not-found`, `store-unavailable`
 */
export async function statFile(
  store: BlobStore,
  customer: Customer,
  name: string,
): Promise<BlobInfo> {
  checkFileName(name)
  const info = await store.stat({ customer: customer.name, name })
  if (info === undefined) throw notFound()
  return info
}

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

/** What is needed to delete. */
interface DeletionPolicy {
  readonly store: BlobStore
  readonly quotas: QuotaKeeper
  /** Whether the customer's calls keep the files that they replace or delete. */
  readonly keeps: (customer: Customer) => boolean
}

/**
 * Deletes the customer's file `name`. When it resolves, the file is deleted durably. It can be restored if the customer's calls keep the
 * files that they delete.
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
  if (!removed) throw notFound()
}

/** What is needed to rename. */
export interface RenamePolicy extends DeletionPolicy {
  readonly rename: NonNullable<BlobStore['rename']>
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
  if (renamed === undefined) throw notFound()
  return renamed
}

function notFound(): FileServiceError {
  return new FileServiceError('not-found', 'File not found')
}
