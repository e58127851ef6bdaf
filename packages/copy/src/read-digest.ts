import {
  abortable,
  type BlobInfo,
  type BlobKey,
  type BlobStore,
  type IncrementalHash,
} from '@holdfast/core'

/** A blob as it was when it was read. */
export interface ReadBlob {
  readonly info: BlobInfo
  /** Hexadecimal. */
  readonly digest: string
}

export interface ReadOptions {
  readonly signal: AbortSignal
  readonly onBytes: (bytes: number) => void
  readonly createHash: () => IncrementalHash
}

/** The digest of a blob, read in chunks that `onBytes` is called for; `undefined` if there is no blob. */
export async function readDigest(
  store: BlobStore,
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
