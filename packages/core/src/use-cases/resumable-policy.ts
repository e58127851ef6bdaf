import type { Customer } from '../model/customer.ts'
import type { KeyedLock } from '../model/keyed-lock.ts'
import { uploadNotFound } from '../model/upload-rules.ts'
import type { QuotaKeeper } from '../policy/quota-keeper.ts'
import type { RecentValues } from '../policy/recent-values.ts'
import type { BlobInfo } from '../ports/blob-info.ts'
import type { ResumableUpload, ResumableUploads, UploadKey } from '../ports/resumable-uploads.ts'
import type { IncrementalHash } from './expected-digest.ts'
import type { UploadPolicy } from './upload-file.ts'

/** What uploads in pieces are judged by. */
export interface ResumablePolicy extends UploadPolicy {
  readonly uploads: ResumableUploads
  readonly quotas: QuotaKeeper
  /** Milliseconds after its last change at which an unfinished upload expires. */
  readonly uploadExpiryMs: number
  /** Which link the uploads are begun by. Default: none. */
  readonly link?: string
  /** How many uploads a customer may have begun and not finished; `Infinity` for no limit. */
  readonly maxUnfinishedUploads: number
  /** A fresh SHA-256, for digests of whole files. Without it, `sha256` of a plan is refused. */
  readonly createSha256?: () => IncrementalHash
  /** One publication of an upload at a time. */
  readonly publishing: KeyedLock
  /** SHA-256 in hexadecimal of what has arrived of unpublished uploads, by customer, id and offset. */
  readonly digests: RecentValues<string>
  /** Called when an upload has been published; once for each, unless the process ends meanwhile. */
  onPublished(customer: Customer, file: BlobInfo): void
}

/**
 * The key of the customer's upload `id`.
 * @throws FileServiceError `upload-not-found` when `id` is none that a store gives
 */
export function uploadKey(customer: Customer, id: string): UploadKey {
  if (!/^[\w-]{16,64}$/u.test(id)) throw uploadNotFound()
  return { customer: customer.name, id }
}

/**
 * The customer's upload; `undefined` if there is none, or if the file that it became has been deleted or replaced since: whoever hears that
 * such an upload has all of its bytes takes them for stored.
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
