import {
  type BlobInfo,
  type BlobKey,
  type BlobStore,
  type IncrementalHash,
  type OpenBlob,
  abortable,
} from '@holdfast/core'

export interface FileCopy {
  readonly from: Pick<BlobStore, 'open' | 'stat'>
  readonly to: BlobStore
  readonly key: BlobKey
  readonly signal: AbortSignal
  /** Whether the target keeps what the copy replaces. Default: no. */
  readonly keepReplaced?: boolean
  /** Called twice for each byte: after it is sent, and after it is read from the copy. */
  readonly onBytes: (bytes: number) => void
  readonly createHash: () => IncrementalHash
}

/** A retry may succeed: the file was replaced meanwhile, or its copy was wrong. */
class TransientError extends Error {}

const tries = 2

/**
 * Copies a file over the one under its key in the target, reads the copy, and compares it with the sent bytes. Removes a copy that is
 * wrong or unreadable, and tries again once after a wrong one. Resolves with the source's description of the file; with `undefined`,
 * without a change in the target, if the source has no such file, or has lost it during the read.
 *
 * @throws what a store throws, the signal's reason, or an Error that says why there is no right copy
 */
export async function copyFile(copy: FileCopy): Promise<BlobInfo | undefined> {
  for (let triesLeft = tries - 1; ; triesLeft--) {
    try {
      return await tryCopy(copy)
    } catch (error) {
      if (!(error instanceof TransientError) || triesLeft === 0) throw error
    }
  }
}

async function tryCopy(copy: FileCopy): Promise<BlobInfo | undefined> {
  const { from, to, key, signal, createHash, keepReplaced = false } = copy
  const opened = await from.open(key)
  if (!opened) return undefined
  const hash = createHash()
  const deletedMeanwhile = new Error('The file was deleted during the copy')
  try {
    const content = sentContent(copy, opened, hash, deletedMeanwhile)
    const target = await to.put(key, content, { signal, keepReplaced })
    await verify(copy, target, hash.digest('hex'))
    return opened.info
  } catch (error) {
    if (error === deletedMeanwhile) return undefined
    throw error
  } finally {
    await opened.close()
  }
}

/**
 * The content being sent. Its end makes the copy visible, so it checks the source once more before: a file that was replaced or deleted
 * during the read does not appear in the target.
 */
async function* sentContent(
  { from, key, onBytes }: FileCopy,
  { info, content }: OpenBlob,
  hash: IncrementalHash,
  deletedMeanwhile: Error,
) {
  for await (const chunk of content) {
    hash.update(chunk)
    onBytes(chunk.length)
    yield chunk
  }
  const now = await from.stat(key)
  if (!now) throw deletedMeanwhile
  if (now.etag !== info.etag) throw new TransientError('The file was replaced during each try')
}

async function verify(copy: FileCopy, written: BlobInfo, digest: string): Promise<void> {
  const { to, key } = copy
  try {
    const found = await readDigest(to, key, copy)
    if (found?.digest === digest) return
    throw new TransientError('The copy differs from the original')
  } catch (error) {
    // Otherwise the next run would take the copy for verified. The target may be out of reach; then nothing helps.
    await removeIfOurs(to, key, written).catch(() => {})
    throw error
  }
}

async function removeIfOurs(to: BlobStore, key: BlobKey, { etag }: BlobInfo): Promise<void> {
  const now = await to.stat(key)
  if (now?.etag === etag) await to.delete(key)
}

/**
 * The form of an entity tag that S3 makes of the content alone: objects with equal ones have equal content. Any other is specific to a
 * store.
 */
export const digestOfContent = /^[0-9a-f]{32}(-\d+)?$/

/** A blob and the digest of its content when it was read. */
interface ReadBlob {
  readonly info: BlobInfo
  /** Hexadecimal. */
  readonly digest: string
}

interface ReadOptions {
  readonly signal: AbortSignal
  readonly onBytes: (bytes: number) => void
  readonly createHash: () => IncrementalHash
}

/** The digest of a blob; calls `onBytes` for each chunk. `undefined` if there is no blob. */
export async function readDigest(
  store: Pick<BlobStore, 'open'>,
  key: BlobKey,
  { signal, onBytes, createHash }: ReadOptions,
): Promise<ReadBlob | undefined> {
  const blob = await store.open(key)
  if (!blob) return undefined
  const hash = createHash()
  try {
    for await (const chunk of abortable(blob.content, signal)) {
      hash.update(chunk)
      onBytes(chunk.length)
    }
    return { info: blob.info, digest: hash.digest('hex') }
  } finally {
    await blob.close()
  }
}
