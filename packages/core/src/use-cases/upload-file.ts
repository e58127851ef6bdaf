import type { Customer } from '../model/customer.ts'
import { FileServiceError, nameTaken } from '../model/errors.ts'
import { checkFileName } from '../model/file-name.ts'
import { requireBytes, requireCount } from '../model/require.ts'
import { readableContent, type UploadContent } from '../model/upload-content.ts'
import type { QuotaClaim } from '../policy/quota-claim.ts'
import type { QuotaKeeper } from '../policy/quota-keeper.ts'
import type { BlobInfo } from '../ports/blob.ts'
import type { BlobStore } from '../ports/blob-store.ts'
import { createDigestCheck, type DigestCheck, type ExpectedDigest } from './expected-digest.ts'

export interface UploadOptions {
  /** Refuse the upload with `already-exists` if the name is taken. Default: replace. */
  readonly createOnly?: boolean
  /**
   * How many bytes are expected. A size above a limit is refused before a byte is read; any other size is reserved in the quota. The
   * real size may differ. Default: the size of the content, if it has one.
   */
  readonly size?: number
  readonly digest?: ExpectedDigest
  /** Cancels the upload; it rejects with the signal's reason. */
  readonly signal?: AbortSignal
  /** Called with each chunk that the store no longer needs, so that its memory can be reused. Default: none. */
  readonly release?: (chunk: Uint8Array) => void
}

export interface UploadPolicy {
  readonly store: BlobStore
  readonly quotas: Pick<QuotaKeeper, 'claim'>
  /** In bytes; `Infinity` for no limit. */
  readonly maxFileSize: number
  /** Whether the customer's calls keep the files that they replace or delete. */
  readonly keeps: (customer: Customer) => boolean
}

/**
 * Stores `content` as the customer's file `name`, and replaces an earlier one. When it resolves, the file is durable and visible.
 * When it rejects, nothing has changed, unless the store failed during the publication itself; see `BlobStore.put`. If `content` is
 * incomplete, it must throw and not end.
 *
 * @throws TypeError when `content` or a chunk of it is not an {@link UploadContent}, or was read before
 * @throws TypeError when the name is not a string, or `digest` is not an {@link ExpectedDigest}
 * @throws TypeError or RangeError when `size` is not a number from 0
 * @throws FileServiceError `invalid-file-name`, `already-exists`, `file-too-large`, `quota-exceeded`,
 *   `digest-mismatch`, `insufficient-storage`, `store-unavailable`
 */
export async function uploadFile(
  { store, quotas, maxFileSize, keeps }: UploadPolicy,
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
    throw nameTaken()
  }
  const claim = await quotas.claim(customer, name, size)
  try {
    const checked = check(readable.chunks, maxFileSize, claim, digestCheck)
    const onReadable = digestCheck?.onReadable
    const putOptions = {
      createOnly,
      ...(keeps(customer) && { keepReplaced: true }),
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
 * `content`, but it throws as soon as a limit is exceeded, and at its end if the digest differs. When it throws, it ends the claim:
 * otherwise other uploads could be refused, until the store has cleaned up, because of bytes that never arrive.
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
