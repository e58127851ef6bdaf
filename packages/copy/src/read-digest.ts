import { createHash } from 'node:crypto'
import { abortable, type BlobInfo, type BlobKey, type BlobStore } from '@holdfast/core'

/** A blob as it was when it was read. */
export interface ReadBlob {
  readonly info: BlobInfo
  /** Hexadecimal. */
  readonly sha256: string
}

/** Reads a blob to its end, keeping nothing, and tells `onBytes` of every chunk; `undefined` if there is none. */
export async function readDigest(
  store: BlobStore,
  key: BlobKey,
  signal: AbortSignal,
  onBytes: (bytes: number) => void,
): Promise<ReadBlob | undefined> {
  const blob = await store.open(key)
  if (!blob) return undefined
  const hash = createHash('sha256')
  try {
    for await (const chunk of abortable(blob.content, signal)) {
      hash.update(chunk)
      onBytes(chunk.length)
    }
    return { info: blob.info, sha256: hash.digest('hex') }
  } finally {
    await blob.close()
  }
}
