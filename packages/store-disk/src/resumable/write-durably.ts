import { isFileServiceError } from '@holdfast/core'
import type { FileCalls } from '../files/file-calls.ts'
import { createFileWriter } from '../write/file-writer.ts'
import { writeChunks } from '../write/write-content.ts'
import { createDurableProgress } from './durable-progress.ts'

export interface DurableWrite {
  readonly file: number
  readonly content: AsyncIterable<Uint8Array>
  readonly calls: FileCalls
  /** All bytes count or none. */
  readonly allOrNothing: boolean
  readonly release: (chunk: Uint8Array) => void
  /** Syncs the file when all of the content has been written. */
  readonly syncLast: (bytes: number) => Promise<void>
  /** Makes the first `bytes` of the content count; they have been synced. */
  readonly acknowledge: (bytes: number) => Promise<void>
}

/**
 * Appends the content to the file, and makes it durable while it comes. However the content ends, what came counts, unless it is all or
 * nothing; where there is no room for all of it, what has been acknowledged by then counts. Resolves with the failure of the content, or of
 * writing, if there was one; rejects if what came cannot be made durable.
 */
export async function writeDurably(
  write: DurableWrite,
): Promise<{ readonly error: unknown } | undefined> {
  const { file, content, calls, allOrNothing, release, acknowledge, syncLast } = write
  const progress = createDurableProgress(file, calls, allOrNothing ? undefined : acknowledge)
  const writer = createFileWriter(file, calls, progress)
  let failure: { readonly error: unknown } | undefined
  try {
    await writeChunks(writer, content, release)
  } catch (error) {
    failure = { error }
  }
  try {
    if (!(failure && allOrNothing)) await writer.settle()
  } catch (error) {
    failure ??= { error }
  } finally {
    await writer.close()
  }
  if (failure && allOrNothing) return failure
  if (isFileServiceError(failure?.error, 'insufficient-storage')) {
    await progress.end().catch(() => {})
    return failure
  }
  try {
    await progress.finish(failure ? undefined : () => syncLast(progress.written()))
    if (allOrNothing && progress.written() > 0) await acknowledge(progress.written())
  } catch (error) {
    throw failure ? failure.error : error
  }
  return failure
}
