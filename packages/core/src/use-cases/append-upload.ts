import { abortable } from '../model/abortable.ts'
import { isLimited, type Customer } from '../model/customer.ts'
import { isFileServiceError } from '../model/errors.ts'
import { requireBytes, requireCount, requireWholeBytes } from '../model/require.ts'
import { readableContent, type UploadContent } from '../model/upload-content.ts'
import { uploadNotFound } from '../model/upload-rules.ts'
import type { QuotaClaim } from '../policy/quota-claim.ts'
import type { ResumableUpload, UploadKey } from '../ports/resumable-uploads.ts'
import { createDigestCheck, type DigestCheck, type ExpectedDigest } from './expected-digest.ts'
import { finishUpload, type FinishedUpload } from './finish-upload.ts'
import { lookUpUpload, uploadKey, type ResumablePolicy } from './resumable-policy.ts'
import { checkSize } from './upload-file.ts'

export interface AppendUploadOptions {
  /** The length of the whole file, where `begin` did not know it. */
  readonly length?: number
  /** How many bytes are expected. More than fit are refused before a byte is read. Default: the content's size, if it has one. */
  readonly size?: number
  /** Whether the file is not published even if its length is reached: a later call publishes it. Default: `false`. */
  readonly isPartial?: boolean
  /** The digest of these bytes. All of them count or none, then. */
  readonly digest?: ExpectedDigest
  /** Ends the append; it rejects with the signal's reason, and what came counts. */
  readonly signal?: AbortSignal
  /** Called with each chunk that the store no longer needs, so that its memory can be used again. Default: no call. */
  readonly release?: (chunk: Uint8Array) => void
  /** Called with the upload as it is found, and whenever more bytes have become durable. It must not throw. Default: no call. */
  readonly onState?: (upload: ResumableUpload) => void
}

/**
 * Adds `content` to the customer's upload `id` at `offset`, and publishes the file when the upload's length is reached, or has been reached
 * before and publishing failed.
 * What came counts, however the call ends. It ends an earlier append that is still under way.
 *
 * @throws TypeError or RangeError as `uploadFile` does
 * @throws FileServiceError `upload-not-found`; `upload-conflict` if the upload stands at another offset, is published, has
 *   another length, or a later request goes on with it; `file-too-large`, `quota-exceeded`, `digest-mismatch`,
 *   `already-exists`, `insufficient-storage`, `store-unavailable`
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
  if (options.length !== undefined) await declareLength(policy, key, options.length)
  const { signal, release, onState, isPartial = false } = options
  const digestCheck = options.digest && createDigestCheck(options.digest, signal)
  let state: ResumableUpload | undefined
  let claim: QuotaClaim | undefined
  let hasEnded = false
  /** The store has found the upload, and its offset is right, when it asks for the first chunk. */
  const admitted = async function* () {
    const { plan } = found(state)
    const limit = Math.min(plan.length ?? Infinity, policy.maxFileSize)
    checkSize(offset + size, limit)
    const opened = await policy.quotas.claim(customer, plan.name, size, id)
    // A later call may have ended the append during the wait; the store closes this generator only now.
    if (hasEnded) return opened.end()
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
    // A store may refuse appends to what it has begun to publish, even of no bytes.
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
  throw new TypeError('The store appends without a call of onState')
}

async function isEmpty(content: AsyncIterable<unknown>): Promise<boolean> {
  for await (const chunk of content) {
    requireBytes(chunk)
    if (chunk.length > 0) return false
  }
  return true
}

/** Counts what the store has kept of an append that failed. */
async function stageWhatCame(
  { uploads }: ResumablePolicy,
  key: UploadKey,
  claim: QuotaClaim,
): Promise<void> {
  try {
    const upload = await uploads.state(key)
    claim.stage(upload && !upload.published ? upload.offset : 0)
  } catch {
    // All that was claimed counts until the next look at the store.
  }
}

async function declareLength(
  { uploads, maxFileSize }: ResumablePolicy,
  key: UploadKey,
  length: number,
): Promise<void> {
  requireWholeBytes('length', length)
  checkSize(length, maxFileSize)
  await uploads.interrupt(key)
  await uploads.declareLength(key, length)
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
