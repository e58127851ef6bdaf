import type { Customer } from '../model/customer.ts'
import { FileServiceError } from '../model/errors.ts'
import { checkFileName } from '../model/file-name.ts'
import type { BlobInfo } from '../ports/blob-info.ts'
import type { OpenBlob, OpenOptions } from '../ports/blob.ts'
import type { BlobStore } from '../ports/blob-store.ts'

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

function notFound(): FileServiceError {
  return new FileServiceError('not-found', 'File not found')
}
