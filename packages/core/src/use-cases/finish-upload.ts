import { FileServiceError } from '../model/errors.ts'
import { isLimited, type Customer } from '../model/customer.ts'
import { uploadNotFound } from '../model/upload-errors.ts'
import { requireComplete } from '../model/upload-rules.ts'
import type { BlobInfo } from '../ports/blob-info.ts'
import type { ResumableUpload, UploadKey } from '../ports/resumable-uploads.ts'
import { discardUpload, lookUpUpload, uploadKey, type ResumablePolicy } from './resumable-policy.ts'

/** An upload, and whether it was the call which this is the result of that has published it. */
export interface FinishedUpload extends ResumableUpload {
  readonly isPublishedNow?: true
}

/**
 * Publishes the upload `id` with the bytes it has, and resolves to its last state. May be called again, as after a lost
 * answer. An upload whose digest differs is discarded.
 *
 * @throws FileServiceError `upload-not-found`; `upload-conflict` if a length is known and not reached; `already-exists`,
 *   `quota-exceeded`, `digest-mismatch`, `insufficient-storage`, `store-unavailable`
 */
export async function finishUpload(
  policy: ResumablePolicy,
  customer: Customer,
  id: string,
  signal?: AbortSignal,
): Promise<FinishedUpload> {
  const { uploads, publishing } = policy
  const key = uploadKey(customer, id)
  const leave = await publishing(`${customer.name}/${id}`)
  try {
    await uploads.interrupt(key)
    const upload = await lookUpUpload(policy, key)
    if (upload === undefined) throw uploadNotFound()
    if (upload.published) return upload
    requireComplete(upload)
    await checkDigest(policy, customer, key, upload, signal)
    const { published, isEarlier } = await publish(policy, customer, key, upload)
    await policy.quotas.endUpload(customer, id)
    const finished = { ...upload, offset: published.size, published }
    if (isEarlier) return finished
    policy.onPublished(customer, published)
    return { ...finished, isPublishedNow: true }
  } finally {
    leave()
  }
}

async function publish(
  { uploads, quotas }: ResumablePolicy,
  customer: Customer,
  key: UploadKey,
  { plan: { name }, offset }: ResumableUpload,
): Promise<{ readonly published: BlobInfo; readonly isEarlier: boolean }> {
  const claim = await quotas.claim(customer, name, 0, key.id)
  try {
    claim.stage(offset)
    await claim.prepare()
    // Another process may have published it before this one locked the name, and the file may have changed since: the end of
    // the claim looks it up.
    const before = isLimited(customer) ? (await uploads.state(key))?.published : undefined
    if (before) return { published: before, isEarlier: true }
    const published = await uploads.publish(key)
    // More may have come before the store ended the last append.
    claim.stage(published.size)
    claim.settle()
    return { published, isEarlier: false }
  } finally {
    claim.end()
  }
}

/**
 * Reads back what the store has: a running hash cannot be kept from one piece to the next. Declares the length before, so that
 * the store never publishes bytes that come after those that were read.
 */
async function checkDigest(
  policy: ResumablePolicy,
  customer: Customer,
  key: UploadKey,
  { offset, plan: { sha256, length } }: ResumableUpload,
  signal: AbortSignal | undefined,
): Promise<void> {
  const { uploads, createSha256 } = policy
  const hash = sha256 === undefined ? undefined : createSha256?.()
  if (hash === undefined) return
  if (length === undefined) await uploads.declareLength(key, offset)
  let left = offset
  for await (const chunk of uploads.content(key)) {
    signal?.throwIfAborted()
    hash.update(chunk.subarray(0, left))
    left = Math.max(0, left - chunk.length)
  }
  const actual = hash.digest('hex')
  if (actual === sha256) return
  await discardUpload(policy, customer, key)
  throw new FileServiceError('digest-mismatch', `The content's digest is ${actual}`)
}
