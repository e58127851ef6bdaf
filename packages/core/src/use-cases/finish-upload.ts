import { isLimited, type Customer } from '../model/customer.ts'
import { FileServiceError, nameTaken } from '../model/errors.ts'
import { lockUnlessAborted } from '../model/concurrency.ts'
import { uploadNotFound, requireComplete } from '../model/upload-rules.ts'
import type { BlobInfo } from '../ports/blob.ts'
import type { ResumableUpload, UploadKey } from '../ports/resumable-uploads.ts'
import type { IncrementalHash } from './expected-digest.ts'
import { discardUpload, uploadKey, type ResumablePolicy } from './resumable-policy.ts'

/** An upload, and whether this call published it. */
export interface FinishedUpload extends ResumableUpload {
  readonly isPublishedNow?: true
}

/**
 * Publishes the upload `id` with the bytes that it has, and resolves with its last state. It may be called again, for example after
 * a lost answer: then it resolves with what was published, even if the file has changed since. An upload with a wrong digest is
 * discarded. If the name is taken or the quota exceeded, no digest is computed. The digest of an upload is computed only once, even
 * if publishing fails several times.
 *
 * After `signal` has aborted, the call does not wait for others, begins no digest and publishes nothing; it rejects with the
 * signal's reason. But a digest that is being computed is completed: otherwise the file of a client that always leaves before the
 * end would never be published.
 *
 * @throws FileServiceError `upload-not-found`; `upload-conflict` if the length is known and not reached; `already-exists`,
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
  const leave = await lockUnlessAborted(publishing, `${customer.name}/${id}`, signal)
  try {
    await uploads.interrupt(key)
    const upload = await uploads.state(key)
    if (upload === undefined) throw uploadNotFound()
    if (upload.published) return upload
    requireComplete(upload)
    const { published, isEarlier } = await publish(policy, customer, upload, signal)
    await policy.quotas.endUpload(customer, id)
    const finished = { ...upload, offset: published.size, published }
    if (isEarlier) return finished
    policy.onPublished(customer, published)
    return { ...finished, isPublishedNow: true }
  } finally {
    leave()
  }
}

interface Publication {
  readonly published: BlobInfo
  /** Whether another process published it. */
  readonly isEarlier: boolean
}

async function publish(
  policy: ResumablePolicy,
  customer: Customer,
  upload: ResumableUpload,
  signal: AbortSignal | undefined,
): Promise<Publication> {
  const { uploads, quotas } = policy
  const key = uploadKey(customer, upload.id)
  const earlier = await findTaken(policy, key, upload)
  if (earlier) return { published: earlier, isEarlier: true }
  const claim = await quotas.claim(customer, upload.plan.name, 0, upload.id)
  try {
    claim.stage(upload.offset)
    await checkDigest(policy, customer, upload, signal)
    await claim.prepare()
    // Another process may have published it before this one locked the name, and the file may have changed since. The claim is
    // not settled then, so its end looks the file up.
    const before = isLimited(customer) ? (await uploads.state(key))?.published : undefined
    if (before) return { published: before, isEarlier: true }
    const published = await uploads.publish(key, { keepReplaced: policy.keeps(customer) })
    // More bytes may have arrived before the store ended the last append.
    claim.stage(published.size)
    claim.settle()
    return { published, isEarlier: false }
  } finally {
    claim.end()
  }
}

/**
 * The file of a create-only upload, if another process has published it meanwhile. The store decides about the name at publication;
 * this early check can spare the server the digest.
 *
 * @throws FileServiceError `already-exists` if another file has the name
 */
async function findTaken(
  { store, uploads }: ResumablePolicy,
  key: UploadKey,
  { plan: { name, createOnly } }: ResumableUpload,
): Promise<BlobInfo | undefined> {
  if (createOnly !== true || !(await store.stat({ customer: key.customer, name }))) return undefined
  const published = (await uploads.state(key))?.published
  if (published === undefined) throw nameTaken()
  return published
}

/**
 * The SHA-256 of the first `offset` bytes of an unfinished upload, in hexadecimal. The bytes are read back from the store, since a
 * running hash cannot be stored between two pieces. The digest is computed once for each offset, unless `signal` ends that.
 */
export async function digestOf(
  { uploads, digests }: ResumablePolicy,
  { customer, id }: UploadKey,
  offset: number,
  hash: IncrementalHash,
  signal?: AbortSignal,
): Promise<string> {
  // Bytes before an offset never change.
  const content = `${customer}/${id}/${offset}`
  const known = digests.get(content)
  if (known !== undefined) return known
  let left = offset
  for await (const chunk of uploads.content({ customer, id })) {
    signal?.throwIfAborted()
    hash.update(chunk.subarray(0, left))
    left = Math.max(0, left - chunk.length)
  }
  const digest = hash.digest('hex')
  digests.set(content, digest)
  return digest
}

/** Checks the digest of the whole file. First declares the length, so that the store cannot publish bytes that come later. */
async function checkDigest(
  policy: ResumablePolicy,
  customer: Customer,
  { id, offset, plan: { sha256, length } }: ResumableUpload,
  signal: AbortSignal | undefined,
): Promise<void> {
  const { uploads, createSha256 } = policy
  const key = uploadKey(customer, id)
  signal?.throwIfAborted()
  const hash = sha256 === undefined ? undefined : createSha256?.()
  if (hash === undefined) return
  if (length === undefined) await uploads.declareLength(key, offset)
  const actual = await digestOf(policy, key, offset, hash)
  if (actual === sha256) return signal?.throwIfAborted()
  await discardUpload(policy, customer, key)
  throw new FileServiceError('digest-mismatch', `The content's digest is ${actual}`)
}
