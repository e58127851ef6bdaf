import { abortable } from '../model/concurrency.ts'
import { isLimited, type Customer } from '../model/customer.ts'
import { isFileServiceError } from '../model/errors.ts'
import { requireBytes, requireCount, requireWholeBytes } from '../model/require.ts'
import { readableContent, type UploadContent } from '../model/upload-content.ts'
import { requireLength, requireOffset, uploadNotFound } from '../model/upload-rules.ts'
import { endUnused, type QuotaClaim } from '../policy/quota-claim.ts'
import type { ResumableUpload, UploadKey } from '../ports/resumable-uploads.ts'
import { createDigestCheck, type DigestCheck, type ExpectedDigest } from './expected-digest.ts'
import { finishUpload, type FinishedUpload } from './finish-upload.ts'
import { lookUpUpload, uploadKey, type ResumablePolicy } from './resumable-policy.ts'
import { checkSize } from './upload-file.ts'

export interface AppendUploadOptions {
  /** The length of the whole file, if `begin` did not get it. A call that is refused before its first byte declares none. */
  readonly length?: number
  /** How many bytes are expected. Too many are refused before a byte is read. Default: the content's size, if it has one. */
  readonly size?: number
  /** Whether to leave the publication to a later call, even if the length is reached. Default: `false`. */
  readonly isPartial?: boolean
  /** The digest of these bytes. With it, all of them are added or none. */
  readonly digest?: ExpectedDigest
  /** Ends the append; it rejects with the signal's reason, and bytes that have arrived are kept. */
  readonly signal?: AbortSignal
  /** Called with each chunk that the store no longer needs, so that its memory can be reused. Default: none. */
  readonly release?: (chunk: Uint8Array) => void
  /** Called with the upload as it is found, and whenever more bytes have become durable. It must not throw. Default: none. */
  readonly onState?: (upload: ResumableUpload) => void
}

/**
 * Adds `content` to the customer's upload `id` at `offset`. It publishes the file when the upload's length is reached, also if that
 * was reached before and publishing failed. Bytes that have arrived are kept, also when the call fails. It ends an earlier append
 * that is still under way.
 *
 * @throws TypeError or RangeError as `uploadFile` does
 * @throws FileServiceError `upload-not-found`; `upload-conflict` if the upload has another offset or another length, is
 *   published, or a later request continues it; `file-too-large`, `quota-exceeded`, `digest-mismatch`, `already-exists`,
 *   `insufficient-storage`, `store-unavailable`
 */
export async function appendUpload(
  policy: ResumablePolicy,
  customer: Customer,
  id: string,
  offset: number,
  content: UploadContent,
  options: AppendUploadOptions = {},
): Promise<FinishedUpload> {
  const { uploads } = policy
  const key = uploadKey(customer, id)
  const readable = readableContent(content)
  const size = options.size ?? readable.size ?? 0
  requireWholeBytes('offset', offset)
  requireCount('size', size)
  const { length, signal, release, onState, isPartial = false } = options
  const digestCheck = options.digest && createDigestCheck(options.digest, signal)
  let state: ResumableUpload | undefined
  let claim: QuotaClaim | undefined
  if (length !== undefined) {
    claim = await declareLength(policy, customer, key, { offset, size, length })
  }
  let hasEnded = false
  /** When the store asks for the first chunk, it has found the upload and checked the offset. */
  const admitted = async function* () {
    const { plan } = found(state)
    const limit = Math.min(plan.length ?? Infinity, policy.maxFileSize)
    checkSize(offset + size, limit)
    const opened = claim ?? (await policy.quotas.claim(customer, plan.name, size, id))
    // A later call may have ended the append during the `await`; the store can close this generator only now.
    if (hasEnded) return endUnused(opened)
    claim = opened
    yield* check(readable.chunks, offset, limit, claim, digestCheck)
  }
  try {
    const reached = await uploads.append(key, offset, admitted(), {
      allOrNothing: digestCheck !== undefined,
      ...(signal && { signal }),
      ...(release && { release }),
      onState(upload) {
        state = upload
        onState?.(upload)
      },
    })
    claim?.stage(reached)
    const upload = found(state)
    if (isPartial || reached !== upload.plan.length) return { ...upload, offset: reached }
  } catch (error) {
    if (claim && isLimited(customer)) await stageWhatCame(policy, key, claim)
    if (state !== undefined || !isFileServiceError(error, 'upload-conflict')) throw error
    const upload = await lookUpUpload(policy, key)
    if (upload === undefined) throw uploadNotFound()
    // A store may refuse appends, even of no bytes, to an upload that it has begun to publish.
    const isComplete =
      !upload.published && offset === upload.offset && offset === upload.plan.length
    if (isPartial || !isComplete || size > 0) throw error
    if (!(await isEmpty(abortable(readable.chunks, signal)))) throw error
    await digestCheck?.check()
  } finally {
    hasEnded = true
    claim?.end()
  }
  return finishUpload(policy, customer, id, signal)
}

function found(upload: ResumableUpload | undefined): ResumableUpload {
  if (upload) return upload
  throw new TypeError('The store took content before it called onState')
}

async function isEmpty(content: AsyncIterable<unknown>): Promise<boolean> {
  for await (const chunk of content) {
    requireBytes(chunk)
    if (chunk.length > 0) return false
  }
  return true
}

/** Counts the bytes that the store has kept of a failed append. */
async function stageWhatCame(
  { uploads }: ResumablePolicy,
  key: UploadKey,
  claim: QuotaClaim,
): Promise<void> {
  try {
    const upload = await uploads.state(key)
    claim.stage(upload && !upload.published ? upload.offset : 0)
  } catch {
    // All claimed bytes count until the store is asked again.
  }
}

interface DeclaringPiece {
  readonly offset: number
  readonly size: number
  /** The length of the whole file. */
  readonly length: number
}

/** Declares the length of the upload, and resolves with a claim of the piece that declares it. */
async function declareLength(
  policy: ResumablePolicy,
  customer: Customer,
  key: UploadKey,
  { offset, size, length }: DeclaringPiece,
): Promise<QuotaClaim> {
  const { uploads, quotas, maxFileSize } = policy
  requireWholeBytes('length', length)
  checkSize(length, maxFileSize)
  await uploads.interrupt(key)
  // A length can never be changed, so a piece that will be refused must not declare one.
  const upload = await lookUpUpload(policy, key)
  if (upload === undefined) throw uploadNotFound()
  requireOffset(upload, offset)
  requireLength(upload, length)
  checkSize(offset + size, length)
  const claim = await quotas.claim(customer, upload.plan.name, size, key.id)
  try {
    await uploads.declareLength(key, length)
    return claim
  } catch (error) {
    endUnused(claim)
    throw error
  }
}

async function* check(
  content: AsyncIterable<Uint8Array>,
  offset: number,
  limit: number,
  claim: QuotaClaim,
  digestCheck: DigestCheck | undefined,
) {
  let size = 0
  for await (const chunk of content) {
    requireBytes(chunk)
    size += chunk.length
    checkSize(offset + size, limit)
    const asking = claim.grow(chunk.length)
    if (asking) await asking
    digestCheck?.update(chunk)
    yield chunk
  }
  await digestCheck?.check()
}
