import type { Customer } from '../model/customer.ts'
import { FileServiceError } from '../model/errors.ts'
import { checkFileName } from '../model/file-name.ts'
import { requireBytes, requireCount } from '../model/require.ts'
import { readableContent, type UploadContent } from '../model/upload-content.ts'
import type { QuotaClaim } from '../policy/quota-claim.ts'
import type { QuotaKeeper } from '../policy/quota-keeper.ts'
import type { BlobInfo } from '../ports/blob-info.ts'
import type { BlobStore } from '../ports/blob-store.ts'
import { createDigestCheck, type DigestCheck, type ExpectedDigest } from './expected-digest.ts'

export interface UploadOptions {
  /** Refuse, with `already-exists`, when the name is taken. Default: replace. */
  readonly createOnly?: boolean
  /**
   * How many bytes are expected. A size above a limit is refused before a byte is read; otherwise the bytes are reserved
   * in the quota. The real size may differ. Default: the size of the content, if it has one.
   */
  readonly size?: number
  readonly digest?: ExpectedDigest
  /** Gives the upload up; it rejects with the signal's reason. */
  readonly signal?: AbortSignal
  /** Called with each chunk that the store no longer needs, so that its memory can be used again. Default: no call. */
  readonly release?: (chunk: Uint8Array) => void
}

export interface UploadPolicy {
  readonly store: BlobStore
  readonly quotas: Pick<QuotaKeeper, 'claim'>
  /** Bytes; `Infinity` for no limit. */
  readonly maxFileSize: number
}

/**
 * Stores `content` as the customer's file `name`, in place of any earlier one. When it resolves, the file is safe and
 * visible; when it rejects, nothing has changed, unless the store failed in the very act of publishing, as the port's
 * `put` says. `content` must throw, not end, if it is not complete.
 *
 * @throws TypeError when `content` or a chunk of it is not what {@link UploadContent} says, or has been read before
 * @throws TypeError when the name is no string, or `digest` is not what {@link ExpectedDigest} says
 * @throws TypeError or RangeError when `size` is no number from 0
 * @throws FileServiceError `invalid-file-name`, `already-exists`, `file-too-large`, `quota-exceeded`,
 *   `digest-mismatch`, `insufficient-storage`, `store-unavailable`
 */
export async function uploadFile(
  { store, quotas, maxFileSize }: UploadPolicy,
  customer: Customer,
  name: string,
  content: UploadContent,
  options: UploadOptions = {},
): Promise<BlobInfo> {
  const { createOnly = false, digest, signal, release } = options
  checkFileName(name)
  const digestCheck = digest && createDigestCheck(digest, signal)
  const readable = readableContent(content)
  const size = options.size ?? readable.size ?? 0
  requireCount('size', size)
  checkSize(size, maxFileSize)
  const key = { customer: customer.name, name }
  // The store decides at publication; this early check spares the client a useless upload.
  if (createOnly && (await store.stat(key))) {
    throw new FileServiceError('already-exists', 'The name is taken')
  }
  const claim = await quotas.claim(customer, name, size)
  try {
    const checked = check(readable.chunks, maxFileSize, claim, digestCheck)
    const onReadable = digestCheck?.onReadable
    const putOptions = {
      createOnly,
      ...(signal && { signal }),
      ...(release && { release }),
      ...(onReadable && { onReadable }),
    }
    const info = await store.put(key, checked, putOptions)
    claim.settle()
    return info
  } finally {
    claim.end()
  }
}

/**
 * `content`; throws as soon as it breaks a limit, and at its end if the digest differs. Ends the claim when it throws:
 * otherwise, until the store has cleaned up, other uploads could be refused because of bytes that never arrive.
 */
async function* check(
  content: AsyncIterable<Uint8Array>,
  maxFileSize: number,
  claim: QuotaClaim,
  digestCheck: DigestCheck | undefined,
) {
  let size = 0
  try {
    for await (const chunk of content) {
      requireBytes(chunk)
      size += chunk.length
      checkSize(size, maxFileSize)
      const asking = claim.grow(chunk.length)
      if (asking) await asking
      digestCheck?.update(chunk)
      yield chunk
    }
    await digestCheck?.check()
    await claim.prepare()
  } catch (error) {
    claim.end()
    throw error
  }
}

/** @throws FileServiceError `file-too-large` when `size` is above `maxFileSize` */
export function checkSize(size: number, maxFileSize: number): void {
  if (size <= maxFileSize) return
  throw new FileServiceError('file-too-large', `The file exceeds ${maxFileSize} bytes`)
}
