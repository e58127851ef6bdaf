import type { Customer } from '../model/customer.ts'
import { nameTaken } from '../model/errors.ts'
import { checkFileName } from '../model/file-name.ts'
import { requireWholeBytes, requireBytes } from '../model/require.ts'
import { readableContent, type UploadContent } from '../model/upload-content.ts'
import { uploadConflict } from '../model/upload-rules.ts'
import type { BlobInfo } from '../ports/blob.ts'
import type { ResumableUpload, UploadPlan } from '../ports/resumable-uploads.ts'
import { createDigestCheck, type DigestCheck } from './expected-digest.ts'
import { finishUpload } from './finish-upload.ts'
import { discardUpload, uploadKey, type ResumablePolicy } from './resumable-policy.ts'
import { checkSize, uploadFile, type UploadOptions } from './upload-file.ts'

/** What a client announces about an upload in pieces before its first byte; see `UploadPlan`. */
export type BeginOptions = Omit<UploadPlan, 'name' | 'link' | 'login' | 'expiresAfterMs'>

/** The most bytes of UTF-8 in a note. */
const maxNoteBytes = 4_096

/**
 * Begins an upload of the customer's file `name` that comes in pieces. Nothing is visible before the last piece. An upload of
 * length 0 is published at once.
 *
 * @throws TypeError or RangeError when `length` is not a whole number from 0; `sha256` is not a digest, or the service has no
 *   `createSha256`; or `note` is not well-formed Unicode or longer than 4,096 bytes
 * @throws FileServiceError `invalid-file-name`, `already-exists`, `file-too-large`, `quota-exceeded`,
 *   `insufficient-storage`, `store-unavailable`
 */
export async function beginUpload(
  policy: ResumablePolicy,
  customer: Customer,
  name: string,
  options: BeginOptions = {},
): Promise<ResumableUpload> {
  const { store, uploads, quotas, maxFileSize, uploadExpiryMs } = policy
  checkFileName(name)
  checkPlan(policy, options)
  checkSize(options.length ?? 0, maxFileSize)
  // The store decides at publication; this early check spares the client a useless upload.
  if (options.createOnly === true && (await store.stat({ customer: customer.name, name }))) {
    throw nameTaken()
  }
  // Only a check: until bytes arrive, an upload uses nothing of the quota.
  const claim = await quotas.claim(customer, name, options.length)
  claim.end()
  const plan = { ...options, name, ...originOf(policy, customer), expiresAfterMs: uploadExpiryMs }
  const upload = await quotas.beginUpload(customer, policy.maxUnfinishedUploads, () =>
    uploads.begin(customer.name, plan),
  )
  return upload.plan.length === 0 ? finishEmpty(policy, customer, upload) : upload
}

/** By which link and login uploads are begun, for their plans. */
function originOf(
  { link }: ResumablePolicy,
  { login }: Customer,
): Pick<UploadPlan, 'link' | 'login'> {
  return { ...(link !== undefined && { link }), ...(login !== undefined && { login }) }
}

/** Publishes an empty file. If that fails, it discards the upload: the caller gets no id to do so. */
async function finishEmpty(
  policy: ResumablePolicy,
  customer: Customer,
  { id }: ResumableUpload,
): Promise<ResumableUpload> {
  try {
    return await finishUpload(policy, customer, id)
  } catch (error) {
    await discardUpload(policy, customer, uploadKey(customer, id)).catch(() => {})
    throw error
  }
}

/** @throws TypeError or RangeError for options that no upload may have */
function checkPlan({ createSha256 }: ResumablePolicy, options: BeginOptions): void {
  const { length, sha256, note } = options
  if (length !== undefined) requireWholeBytes('length', length)
  if (sha256 !== undefined && createSha256 === undefined) {
    throw new TypeError('sha256 needs createSha256: createFileService({ store, createSha256 })')
  }
  if (sha256 !== undefined && !/^[0-9a-f]{64}$/u.test(sha256)) {
    throw new RangeError('sha256 must be 64 hexadecimal digits in lower case')
  }
  if (note !== undefined) checkNote(note)
}

function checkNote(note: string): void {
  if (!note.isWellFormed()) throw new RangeError('note must be well-formed Unicode')
  if (new TextEncoder().encode(note).length <= maxNoteBytes) return
  throw new RangeError(`note must be at most ${maxNoteBytes} bytes of UTF-8`)
}

export interface UploadWholeOptions
  extends Omit<BeginOptions, 'length'>, Pick<UploadOptions, 'digest' | 'signal' | 'release'> {
  /** How many bytes the content has; all of them must arrive. */
  readonly length: number
}

/**
 * Stores `content`, which is the whole file `name`, as `uploadFile` does, and remembers it as a published upload. If the content
 * fails, nothing is kept. This costs far less than `beginUpload` and `appendUpload`. It is for clients that cannot resume the upload
 * before they have the answer.
 *
 * @throws TypeError or RangeError as `beginUpload` and `uploadFile` do
 * @throws FileServiceError as `uploadFile` does; `upload-conflict` if the content ends before `length`
 */
export async function uploadWhole(
  policy: ResumablePolicy,
  customer: Customer,
  name: string,
  content: UploadContent,
  options: UploadWholeOptions,
): Promise<ResumableUpload> {
  const { digest, signal, release, ...begin } = options
  const { length, createOnly = false, sha256 } = options
  requireWholeBytes('length', length)
  checkPlan(policy, begin)
  const hash = sha256 === undefined ? undefined : policy.createSha256?.()
  // The checks have the order in which an append and a publication make them.
  const digests = [digest, hash && { hash, expected: () => sha256 }]
  const checks = digests.flatMap((one) => (one ? [createDigestCheck(one, signal)] : []))
  const { maxFileSize } = policy
  const { chunks } = readableContent(content)
  const file = await uploadFile(
    { ...policy, maxFileSize: Math.min(maxFileSize, length) },
    customer,
    name,
    whole(chunks, length, checks),
    {
      ...{ createOnly, size: length },
      ...(signal && { signal }),
      ...(release && { release }),
    },
  )
  policy.onPublished(customer, file)
  const origin = originOf(policy, customer)
  const plan = { ...begin, name, ...origin, expiresAfterMs: policy.uploadExpiryMs }
  // The file is stored, so the call must not fail even if a store breaks the promise of `remember`.
  return policy.uploads.remember(customer.name, plan, file).catch(() => unknownUpload(plan, file))
}

/** The result of `remember`, but with an id that no upload has. */
function unknownUpload(plan: UploadPlan, published: BlobInfo): ResumableUpload {
  const expiresAt = new Date(Date.now() + plan.expiresAfterMs)
  return { id: crypto.randomUUID(), plan, offset: published.size, expiresAt, published }
}

async function* whole(
  content: AsyncIterable<Uint8Array>,
  length: number,
  digestChecks: readonly DigestCheck[],
) {
  let size = 0
  for await (const chunk of content) {
    requireBytes(chunk)
    size += chunk.length
    for (const check of digestChecks) check.update(chunk)
    yield chunk
  }
  if (size < length) throw uploadConflict(`The upload has ${size} of ${length} bytes`)
  for (const check of digestChecks) await check.check()
}
