import type { Customer } from '../model/customer.ts'
import type { KeyedLock } from '../model/concurrency.ts'
import { uploadNotFound } from '../model/upload-rules.ts'
import type { QuotaKeeper } from '../policy/quota-keeper.ts'
import type { RecentValues } from '../policy/recent-values.ts'
import type { BlobInfo } from '../ports/blob.ts'
import type { ResumableUpload, ResumableUploads, UploadKey } from '../ports/resumable-uploads.ts'
import type { IncrementalHash } from './expected-digest.ts'
import type { UploadPolicy } from './upload-file.ts'

/** What is needed for uploads in pieces. */
export interface ResumablePolicy extends UploadPolicy {
  readonly uploads: ResumableUploads
  readonly quotas: QuotaKeeper
  /** How long after its last change an unfinished upload expires, in milliseconds. */
  readonly uploadExpiryMs: number
  /** The link by which the uploads are begun. Default: none. */
  readonly link?: string
  /** How many unfinished uploads a customer may have; `Infinity` for no limit. */
  readonly maxUnfinishedUploads: number
  /** A fresh SHA-256, for digests of whole files. Without it, `sha256` of a plan is refused. */
  readonly createSha256?: () => IncrementalHash
  /** Locks by upload: only one publication or digest of an upload runs at a time. */
  readonly publishing: KeyedLock
  /** SHA-256 in hexadecimal of the bytes of unpublished uploads, by customer, id and offset. */
  readonly digests: RecentValues<string>
  /** Called once for each upload that was published, unless the process ends before. */
  onPublished(customer: Customer, file: BlobInfo): void
}

/**
 * The key of the customer's upload `id`.
 * @throws FileServiceError `upload-not-found` when `id` does not have the form of an id
 */
export function uploadKey(customer: Customer, id: string): UploadKey {
  if (!/^[\w-]{16,64}$/u.test(id)) throw uploadNotFound()
  return { customer: customer.name, id }
}

/**
 * The customer's upload; `undefined` if there is none, or if its published file was deleted or replaced since: a client to which
 * such an upload looks complete would believe that its file is stored.
 */
export async function lookUpUpload(
  { store, uploads }: ResumablePolicy,
  key: UploadKey,
): Promise<ResumableUpload | undefined> {
  const upload = await uploads.state(key)
  if (!upload?.published) return upload
  const { etag, name } = upload.published
  const file = await store.stat({ customer: key.customer, name })
  return file?.etag === etag ? upload : undefined
}

/** Drops an upload and frees its bytes; `false` if there was none. */
export async function discardUpload(
  { uploads, quotas }: ResumablePolicy,
  customer: Customer,
  key: UploadKey,
): Promise<boolean> {
  const isDiscarded = await uploads.discard(key)
  await quotas.endUpload(customer, key.id)
  if (isDiscarded) await quotas.release(customer, key.id)
  return isDiscarded
}
