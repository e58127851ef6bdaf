import type { BlobStore, IncrementalHash } from '@holdfast/core'
import { addCounts, trackProgress, type CopyProgress, type FileCount } from './copy-progress.ts'
import { createFailureList, type CopyFailure } from './failure-list.ts'
import { createFileMover, type Outcome } from './file-mover.ts'
import { walkFiles, type FoundFile } from './walk-files.ts'

export interface CopyOptions {
  readonly from: BlobStore
  readonly to: BlobStore
  /**
   * Makes a fresh hash, by which copies are compared with their originals: `() => createHash('sha256')` of `node:crypto`, or
   * another that is free of collisions.
   */
  readonly createHash: () => IncrementalHash
  /** Only this customer's files. Default: those of all customers. */
  readonly customer?: string | undefined
  /** Files at a time, 1 or more. Default: 8. */
  readonly concurrency?: number | undefined
  /** Compare what is there already by content, also where entity tags that S3 makes of the content are the same. Default: not then. */
  readonly verify?: boolean | undefined
  /** Remove from the target what the source does not have. Default: only count it. */
  readonly removeExtra?: boolean | undefined
  /** Ends the copy in good order: what is on its way leaves nothing in the target. */
  readonly signal?: AbortSignal | undefined
  readonly onProgress?: ((progress: CopyProgress) => void) | undefined
}

export interface CopyResult {
  readonly copied: FileCount
  /** Found there and the same, when first looked at. */
  readonly present: FileCount
  /** Files only in the target that were removed. */
  readonly removed: number
  /** Files only in the target that are there still. */
  readonly extra: number
  readonly failures: readonly CopyFailure[]
  /** Whether the last look found nothing to do any more; `false` when files come and change faster than that. */
  readonly isCaughtUp: boolean
  /** Why it ended before its time: the signal's reason, or the Error that made going on useless. */
  readonly stoppedBy: unknown
}

/** With `removeExtra`: the source has no file at all, which is a mistake more often than a wish. */
export class EmptySourceError extends Error {}

/** The second takes what came during the first, which may be long; each further one what came during a short one. */
const maxPasses = 5

/**
 * Makes the target hold what the source holds, several files at a time, in memory that does not grow with their number
 * or size. What is there already stays as it is, so that a copy that was stopped or killed is resumed by a second one.
 * Every file that is copied is read from the target and compared by content.
 *
 * The source may change meanwhile; it is walked again, four times at most, until there is nothing to do. The target must
 * not be changed by others. A file that fails does not stop the rest.
 *
 * @throws EmptySourceError, and what the source throws when its customers cannot be listed
 */
export async function copyFiles(options: CopyOptions): Promise<CopyResult> {
  const { from, to, customer, concurrency = 8, removeExtra = false, onProgress } = options
  const failures = createFailureList()
  const signal = AbortSignal.any([failures.giveUp, ...(options.signal ? [options.signal] : [])])
  const progress = trackProgress(onProgress ?? (() => {}))
  const mover = createFileMover({ ...options, signal })
  const sums = createSums()

  const handle = async (file: FoundFile, isFirst: boolean) => {
    const { customer, name } = file.key
    const inProgress = progress.beginFile()
    let size = 0
    try {
      const outcome = await mover.handle(file, {
        isFirst,
        onBytes: (bytes) => inProgress.moved(bytes),
      })
      sums.add(outcome, isFirst)
      size = outcome.bytes
      failures.noteSuccess()
    } catch (error) {
      if (!signal.aborted) failures.add(customer, name, error)
      progress.failed(failures.count())
    }
    if (file.inSource && !signal.aborted) inProgress.end(size)
  }

  const runPass = async (isFirst: boolean) => {
    sums.beginPass()
    progress.begin(isFirst ? 'copying' : 'catching up')
    const files = walkFiles(from, to, customer)
    const walk = forEachConcurrently(files, concurrency, signal, async (found) => {
      if ('error' in found) failures.add(found.customer, undefined, found.error)
      else await handle(found, isFirst)
    })
    await walk.catch((error: unknown) => failures.stop(error))
    if (!signal.aborted) failures.endPass()
    progress.failed(failures.count())
  }

  const total = await countFiles(from, customer, signal, (count) => progress.counted(count))
  if (removeExtra && total.files === 0 && !signal.aborted) throw new EmptySourceError()
  for (let pass = 1; pass <= maxPasses && !sums.isCaughtUp() && !signal.aborted; pass++) {
    await runPass(pass === 1)
  }
  const stoppedBy: unknown = signal.aborted ? signal.reason : undefined
  const isCaughtUp = sums.isCaughtUp() && !signal.aborted
  return { ...sums.all(), failures: failures.all(), isCaughtUp, stoppedBy }
}

/** What the outcomes of single files come to. */
function createSums() {
  const none: FileCount = { files: 0, bytes: 0 }
  let [copied, present, removed, extra] = [none, none, 0, 0]
  let changes = Infinity
  return {
    beginPass() {
      extra = 0
      changes = 0
    },
    add({ kind, bytes }: Outcome, isFirst: boolean) {
      const one = { files: 1, bytes }
      if (kind === 'copied' || kind === 'removed') changes++
      if (kind === 'copied') copied = addCounts(copied, one)
      if (kind === 'present' && isFirst) present = addCounts(present, one)
      if (kind === 'removed') removed++
      if (kind === 'extra') extra++
    },
    isCaughtUp: () => changes === 0,
    all: () => ({ copied, present, removed, extra }),
  }
}

/**
 * How much a store keeps, of all customers or of `customer` alone; calls `onCount` for each customer. A customer who cannot
 * be counted counts as zero: the copy fails for this customer later, and reports it.
 */
async function countFiles(
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

/**
 * Calls `work` for every item, for at most `concurrency` at a time, in their order. Stops asking for items when the
 * signal aborts; resolves when no work is under way any more. `work` does not reject; a failure of `items` is thrown.
 */
export async function forEachConcurrently<T>(
  items: AsyncIterable<T>,
  concurrency: number,
  signal: AbortSignal,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const iterator = items[Symbol.asyncIterator]()
  const worker = async () => {
    while (!signal.aborted) {
      const step = await iterator.next()
      if (step.done === true) return
      await work(step.value)
    }
  }
  const ends = await Promise.allSettled(Array.from({ length: concurrency }, worker))
  await iterator.return?.()
  for (const end of ends) if (end.status === 'rejected') throw end.reason
}
