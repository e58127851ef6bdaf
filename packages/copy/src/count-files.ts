import type { BlobStore } from '@holdfast/core'
import { addCounts, type FileCount } from './copy-progress.ts'

/**
 * How much a store keeps, of all customers or of `customer` alone; calls `onCount` for each customer. A customer who cannot
 * be counted counts as zero: the copy fails for this customer later, and reports it.
 */
export async function countFiles(
  store: BlobStore,
  customer: string | undefined,
  signal: AbortSignal,
  onCount: (count: FileCount) => void,
): Promise<FileCount> {
  let total: FileCount = { files: 0, bytes: 0 }
  const nothing = { blobs: 0, bytes: 0 }
  for await (const each of customer === undefined ? store.customers() : [customer]) {
    if (signal.aborted) break
    const { blobs: files, bytes } = await store.usage(each).catch(() => nothing)
    total = addCounts(total, { files, bytes })
    onCount({ files, bytes })
  }
  return total
}
