import { stat } from 'node:fs/promises'
import { openFile } from '@holdfast/client'
import type { LocalFile } from './local-files.ts'

/** A larger file gains nothing from a request that it shares. */
const smallSize = 256 * 1024

/** Proxies often take bodies of up to 1 MiB; more files in a request would hardly be faster. */
const batchLimits = { files: 250, bytes: 512 * 1024 }

/** Files of one request. */
export type Batch = readonly [LocalFile, ...LocalFile[]]

/** The files in their order; small ones that share a request together, any other alone. */
export async function* inBatches(files: readonly LocalFile[]): AsyncGenerator<Batch, void> {
  let batch: [LocalFile, ...LocalFile[]] | undefined
  let bytes = 0
  for (const file of files) {
    const size = await sizeOf(file)
    if (size === undefined || size > smallSize) {
      yield [file]
      continue
    }
    if (batch && batch.length < batchLimits.files && bytes + size <= batchLimits.bytes) {
      batch.push(file)
      bytes += size
      continue
    }
    if (batch) yield batch
    batch = [file]
    bytes = size
  }
  if (batch) yield batch
}

/** `undefined` for what is no regular file, cannot be looked at, or has to be read as a stream. */
async function sizeOf({ path }: LocalFile): Promise<number | undefined> {
  if (path === '-') return undefined
  const found = await stat(path).catch(() => undefined)
  if (!found?.isFile()) return undefined
  if (found.size > 0) return found.size
  // A size of 0 may mean that it is not known.
  const opened = await openFile(path).catch(() => undefined)
  return opened?.size
}
