import type { Customer } from '../model/customer.ts'
import { requireBytes, requireWholeBytes } from '../model/require.ts'
import { readableContent, type UploadContent } from '../model/upload-content.ts'
import { uploadConflict } from '../model/upload-rules.ts'
import type { BlobInfo } from '../ports/blob-info.ts'
import type { ResumableUpload, UploadPlan } from '../ports/resumable-uploads.ts'
import { checkPlan, linkOf, type BeginOptions } from './begin-upload.ts'
import { createDigestCheck, type DigestCheck } from './expected-digest.ts'
import type { ResumablePolicy } from './resumable-policy.ts'
import { uploadFile, type UploadOptions } from './upload-file.ts'

export interface UploadWholeOptions
  extends Omit<BeginOptions, 'length'>, Pick<UploadOptions, 'digest' | 'signal' | 'release'> {
  /** Bytes of the content, all of which have to come. */
  readonly length: number
}

/**
 * Stores `content`, which is the whole file `name`, as `uploadFile` does, and keeps it as an upload that has been published.
 * Of a content that fails nothing is kept. It costs far less than to begin an upload and to append to it, and is for clients
 * that cannot go on with an upload before they have the answer to this.
 *
 * @throws TypeError or RangeError as `beginUpload` and `uploadFile` do
 * @throws FileServiceError what `uploadFile` throws; `upload-conflict` if the content ends before `length`
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
  // In the order of an append and a publication.
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
  const plan = { ...begin, name, ...linkOf(policy), expiresAfterMs: policy.uploadExpiryMs }
  // The file is safe: a store that breaks the promise of `remember` must not deny that.
  return policy.uploads.remember(customer.name, plan, file).catch(() => unknownUpload(plan, file))
}

/** What `remember` would resolve to, with the id of no upload. */
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
