import {
  type BlobStore,
  type IncrementalHash,
  type BlobInfo,
  type BlobKey,
  isFileServiceError,
  messageOf,
} from '@holdfast/core'
import { addCounts, trackProgress, type CopyProgress, type FileCount } from './copy-progress.ts'
import { walkFiles, type ListedFile } from './walk-files.ts'
import { copyFile, digestOfContent, readDigest } from './copy-file.ts'
import { countVersions, createVersionCopier } from './copy-versions.ts'

export interface CopyOptions {
  readonly from: BlobStore
  readonly to: BlobStore
  /**
   * Makes a new hash to compare copies with their originals: `() => createHash('sha256')` of `node:crypto`, or another one without
   * collisions.
   */
  readonly createHash: () => IncrementalHash
  /** Copies only this customer's files. Default: those of all customers. */
  readonly customer?: string | undefined
  /** The most files at a time, 1 or more. Default: 8. */
  readonly concurrency?: number | undefined
  /** Whether to compare existing files by content even if they have equal entity tags that S3 makes of the content. Default: no. */
  readonly verify?: boolean | undefined
  /** Whether to remove from the target what the source does not have. Default: only counts it. */
  readonly removeExtra?: boolean | undefined
  /**
   * Whether to copy the earlier versions of files, too, and the deleted files that are kept. Both stores need a `history`. The versions have
   * new times. What the copy replaces or removes in the target is kept there. Default: no; they are only counted.
   */
  readonly versions?: boolean | undefined
  /** Ends the copy cleanly: files being copied leave nothing in the target. */
  readonly signal?: AbortSignal | undefined
  readonly onProgress?: ((progress: CopyProgress) => void) | undefined
}

export interface CopyResult {
  readonly copied: FileCount
  /** Existing files that were the same at the first look. */
  readonly present: FileCount
  /** Files only in the target that were removed. */
  readonly removed: number
  /** Files only in the target that still exist. */
  readonly extra: number
  /** Earlier versions that were copied. */
  readonly versions: FileCount
  /** How many earlier versions the source keeps that were not copied, since that was not asked for. */
  readonly versionsLeftOut: number
  readonly failures: readonly CopyFailure[]
  /** Whether the last pass found nothing to do; `false` if files come and change faster than that. */
  readonly isCaughtUp: boolean
  /** Why it ended early: the signal's reason, or the Error that made it pointless to continue. */
  readonly stoppedBy: unknown
}

/** With `removeExtra`: the source has no file at all, which is usually a mistake. */
export class EmptySourceError extends Error {}

/** The second pass copies what came during the first, which may be long; each further one what came during a short one. */
const maxPasses = 5

/**
 * Makes the target hold what the source holds, several files at a time, in memory that does not grow with their number or size. Existing
 * files stay as they are, so a second run resumes a copy that was stopped or killed. Reads every copied file from the target and compares
 * it by content.
 *
 * The links of customers who have ended links in the source end in the target, if they have a file there or are `customer`.
 *
 * The source may change meanwhile: it is read again, at most four times, until there is nothing to do. Only the copy may change the
 * target. A file that fails does not stop the rest.
 *
 * @throws EmptySourceError; TypeError if `versions` are to be copied and a store has no history; what the source throws if its customers cannot be listed
 */
export async function copyFiles(options: CopyOptions): Promise<CopyResult> {
  const { from, to, customer, concurrency = 8, removeExtra = false, onProgress } = options
  const { versions = false } = options
  const failures = createFailureList()
  const signal = AbortSignal.any([failures.giveUp, ...(options.signal ? [options.signal] : [])])
  const progress = trackProgress(onProgress ?? (() => {}))
  const handler = createFileHandler({ ...options, signal })
  const sums = createSums()

  const handle = async (file: ListedFile, isFirst: boolean) => {
    const { key } = file
    const inProgress = progress.beginFile()
    let size = 0
    try {
      const outcome = await handler.handle(file, {
        isFirst,
        withVersions: isFirst || failures.has(key),
        onBytes: (bytes) => inProgress.moved(bytes),
      })
      sums.add(outcome, isFirst)
      size = outcome.bytes
      failures.noteSuccess(doneKinds.includes(outcome.kind) ? key : undefined)
    } catch (error) {
      if (!signal.aborted) failures.add(key, error, versions && isFirst)
      progress.failed(failures.count())
    }
    if (file.inSource && !signal.aborted) inProgress.end(size)
  }

  const runPass = async (isFirst: boolean) => {
    sums.beginPass()
    progress.begin(isFirst ? 'copying' : 'catching up')
    const withDeleted = versions && isFirst
    const files = walkFiles({ from, to, customer, withDeleted })
    const links = endLinks(options, signal, (each, error) =>
      failures.add({ customer: each }, error),
    )
    await links.catch((error: unknown) => failures.stop(error))
    const walk = forEachConcurrently(files, concurrency, signal, async (found) => {
      if ('error' in found) failures.add({ customer: found.customer }, found.error, withDeleted)
      else await handle(found, isFirst)
    })
    await walk.catch((error: unknown) => failures.stop(error))
    if (!signal.aborted) failures.endPass()
    progress.failed(failures.count())
  }

  const total = await countFiles(from, customer, signal, (count) => progress.counted(count))
  if (removeExtra && total.files === 0 && !signal.aborted) throw new EmptySourceError()
  const versionsLeftOut = versions ? 0 : await countVersions(from, customer, signal)
  for (let pass = 1; pass <= maxPasses && !sums.isCaughtUp() && !signal.aborted; pass++) {
    await runPass(pass === 1)
  }
  const stoppedBy: unknown = signal.aborted ? signal.reason : undefined
  const isCaughtUp = sums.isCaughtUp() && !signal.aborted
  return { ...sums.all(), versionsLeftOut, failures: failures.all(), isCaughtUp, stoppedBy }
}

/**
 * Ends in the target the links of customers who have ended links in the source: there, the links that have ended would be good again. The
 * links that are good in the source end, too.
 */
async function endLinks(
  { from, to, customer }: CopyOptions,
  signal: AbortSignal,
  onFailure: (customer: string, error: unknown) => void,
): Promise<void> {
  const [generations, copies] = [from.linkGenerations, to.linkGenerations]
  if (!generations || !copies) return
  for await (const each of customer === undefined ? from.customers() : [customer]) {
    if (signal.aborted) return
    try {
      const isFirst = (await generations.read(each)) === ''
      if (!isFirst && (await copies.read(each)) === '') await copies.renew(each)
    } catch (error) {
      onFailure(each, error)
    }
  }
}

/** Sums the outcomes of single files. */
function createSums() {
  const none: FileCount = { files: 0, bytes: 0 }
  let [copied, present, versions, removed, extra] = [none, none, none, 0, 0]
  let changes = Infinity
  return {
    beginPass() {
      extra = 0
      changes = 0
    },
    add({ kind, bytes, versions: added = none }: FileOutcome, isFirst: boolean) {
      versions = addCounts(versions, added)
      const one = { files: 1, bytes }
      if (kind === 'copied' || kind === 'removed') changes++
      if (kind === 'copied') copied = addCounts(copied, one)
      if (kind === 'present' && isFirst) present = addCounts(present, one)
      if (kind === 'removed') removed++
      if (kind === 'extra') extra++
    },
    isCaughtUp: () => changes === 0,
    all: () => ({ copied, present, removed, extra, versions }),
  }
}

/**
 * Counts the files of a store, of all customers or of `customer` alone; calls `onCount` for each customer. A customer whose files cannot
 * be counted counts as zero: the copy will fail for this customer later, and report that.
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
 * Calls `work` for every item, in their order, for at most `concurrency` at a time. Stops requesting items when the signal aborts;
 * resolves when no work is running any more. `work` must not reject; a failure of `items` is thrown.
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

/** Afterwards the target has the file and its versions, or neither store has the file. */
const doneKinds: readonly FileOutcome['kind'][] = ['copied', 'present', 'removed']

/** The outcome of a file. */
interface FileOutcome {
  /**
   * - `copied`: it was missing in the target, or different.
   * - `present`: the target has it.
   * - `extra`: it is only in the target, and stays there.
   * - `removed`: it was only in the target.
   * - `deleted`: it is deleted in the source, and only its versions were copied.
   * - `raced`: it disappeared or appeared meanwhile, and nothing was done.
   */
  readonly kind: 'copied' | 'present' | 'extra' | 'removed' | 'deleted' | 'raced'
  /** The file's size. */
  readonly bytes: number
  /** Its versions that were copied. Default: none. */
  readonly versions?: FileCount | undefined
}

interface FileHandlerOptions {
  readonly from: BlobStore
  readonly to: BlobStore
  readonly verify?: boolean | undefined
  readonly removeExtra?: boolean | undefined
  readonly versions?: boolean | undefined
  readonly signal: AbortSignal
  readonly createHash: () => IncrementalHash
}

interface HandleOptions {
  /** Whether this is the first pass of this run. */
  readonly isFirst: boolean
  /** Whether to copy the versions also of a file that the target has. */
  readonly withVersions: boolean
  /** Called with bytes read from the source and with bytes read from the target; a copied file counts twice. */
  readonly onBytes: (bytes: number) => void
}

/** Copies, compares or removes one file at a time. */
interface FileHandler {
  handle(file: ListedFile, handleOptions: HandleOptions): Promise<FileOutcome>
}

function createFileHandler(options: FileHandlerOptions): FileHandler {
  const { from, to, signal, createHash, verify = false, removeExtra = false } = options
  const { versions: keepReplaced = false } = options
  const versionCopier = keepReplaced ? createVersionCopier(options) : undefined
  const verifiedFiles = createVerifiedFiles(createHash)

  const isSameContent = async (key: BlobKey, { onBytes }: HandleOptions): Promise<boolean> => {
    // One after the other: a store may cut off an opened blob that waits while the other one is read.
    const reading = { signal, onBytes, createHash }
    const source = await readDigest(from, key, reading)
    const target = source && (await readDigest(to, key, reading))
    if (!target || target.digest !== source.digest) return false
    verifiedFiles.add(key, source.info)
    return true
  }

  const isPresent = async (key: BlobKey, source: BlobInfo, handleOptions: HandleOptions) => {
    if (verifiedFiles.has(key, source)) return true
    const target = await to.stat(key)
    if (source.size !== target?.size) return false
    // Times prove nothing: after a clock was set back, a file that has replaced another may look older than its copy.
    const isSure = source.etag === target.etag && digestOfContent.test(source.etag)
    if (isSure && !(verify && handleOptions.isFirst)) return true
    return isSameContent(key, handleOptions)
  }

  const copy = async (key: BlobKey, { onBytes }: HandleOptions): Promise<FileOutcome> => {
    const source = await copyFile({
      ...{ from, to, key, signal, onBytes, createHash },
      keepReplaced,
    })
    if (!source) return { kind: 'raced', bytes: 0 }
    verifiedFiles.add(key, source)
    return { kind: 'copied', bytes: source.size }
  }

  const handleExtra = async (key: BlobKey): Promise<FileOutcome> => {
    if (!removeExtra) return { kind: 'extra', bytes: 0 }
    // The source may have received it since it was listed.
    if (await from.stat(key)) return { kind: 'raced', bytes: 0 }
    if (!(await to.delete(key, { keepReplaced }))) return { kind: 'raced', bytes: 0 }
    return { kind: 'removed', bytes: 0, versions: await versionCopier?.copy(key, true) }
  }

  return {
    async handle({ key, inSource, inTarget }, handleOptions) {
      if (!inSource && inTarget) return handleExtra(key)
      if (!inSource) {
        return { kind: 'deleted', bytes: 0, versions: await versionCopier?.copy(key, true) }
      }
      if (!inTarget && !versionCopier) return copy(key, handleOptions)
      const source = await from.stat(key)
      if (!source) return { kind: 'raced', bytes: 0 }
      const isThere = inTarget && (await isPresent(key, source, handleOptions))
      const copiesVersions = handleOptions.withVersions || !isThere
      const versions = copiesVersions ? await versionCopier?.copy(key, false) : undefined
      // The last version that was copied has replaced the file.
      if (isThere && !versions?.files) return { kind: 'present', bytes: source.size }
      return { ...(await copy(key, handleOptions)), versions }
    },
  }
}

/** Files whose content is known to be in the target. */
interface VerifiedFiles {
  /** Records that the target has the content that `source` describes. */
  add(key: BlobKey, source: BlobInfo): void
  /** Whether it was added; `false` if the file has been replaced since, or too many were added before it. */
  has(key: BlobKey, source: BlobInfo): boolean
}

/** The most files that are remembered, in about 12 MiB. Later ones are compared again. */
const maxRemembered = 100_000

/** Remembers files for later passes. A blob keeps its entity tag, and no other content gets the same. */
function createVerifiedFiles(createHash: () => IncrementalHash): VerifiedFiles {
  const remembered = new Set<string>()
  const encoder = new TextEncoder()

  const fingerprint = ({ customer, name }: BlobKey, { etag }: BlobInfo) => {
    const hash = createHash()
    hash.update(encoder.encode(JSON.stringify([customer, name, etag])))
    return hash.digest('hex')
  }

  return {
    add(key, source) {
      if (remembered.size < maxRemembered) remembered.add(fingerprint(key, source))
    },
    has: (key, source) => remembered.has(fingerprint(key, source)),
  }
}

/** A file that could not be copied, or a customer whose files could not be listed. */
export interface CopyFailure {
  readonly customer: string
  /** `undefined` if the list failed, or the links could not be ended. */
  readonly name: string | undefined
  readonly reason: string
}

/** What could not be copied; a customer whose list or links failed has no `name`. */
type FailedKey = Pick<BlobKey, 'customer'> & Partial<BlobKey>

/** Collects failures, and decides when there are too many. */
interface FailureList {
  /** @param isLasting whether the next pass does not try all of it again. Default: it does. */
  add(key: FailedKey, error: unknown, isLasting?: boolean): void
  /** Whether the last attempt failed. */
  has(key: BlobKey): boolean
  /** Records a success: no store is out of reach or full. Forgets the failure of `done`, a file that is complete now. */
  noteSuccess(done: BlobKey | undefined): void
  /** Ends a pass. Forgets failures of earlier passes unless they are lasting: those files have been tried again. */
  endPass(): void
  count(): number
  all(): readonly CopyFailure[]
  /** Aborts `giveUp` with `reason`. */
  stop(reason: unknown): void
  /** Aborts when it is pointless to continue, with an Error that says why. */
  readonly giveUp: AbortSignal
}

/** After so many failures in a row, a store counts as out of reach or full. */
const maxOutages = 10

/** The most failures remembered; so many have one cause. */
const maxFailures = 10_000

function createFailureList(): FailureList {
  const failures = new Map<string, CopyFailure & { isLasting: boolean; pass: number }>()
  let pass = 1
  let outages = 0
  const giveUp = new AbortController()
  const stop = (reason: unknown) => giveUp.abort(reason)
  const idOf = ({ customer, name }: FailedKey) => JSON.stringify([customer, name])

  return {
    add(key, error, isLasting = false) {
      const { customer, name } = key
      const reason = messageOf(error)
      const wasLasting = failures.get(idOf(key))?.isLasting === true
      failures.set(idOf(key), { customer, name, reason, isLasting: isLasting || wasLasting, pass })
      outages = isOutage(error) ? outages + 1 : 0
      if (outages === maxOutages) stop(tooMany(`${maxOutages} failures in a row`, reason))
      if (failures.size === maxFailures) stop(tooMany(`${maxFailures} failures`, reason))
    },
    has: (key) => failures.has(idOf(key)),
    noteSuccess(done) {
      outages = 0
      if (done) failures.delete(idOf(done))
    },
    endPass() {
      for (const [id, failure] of failures) {
        if (failure.pass < pass && !failure.isLasting) failures.delete(id)
      }
      pass++
    },
    count: () => failures.size,
    all: () =>
      [...failures.values()].map(({ customer, name, reason }) => ({ customer, name, reason })),
    giveUp: giveUp.signal,
    stop,
  }
}

const tooMany = (count: string, last: string) => new Error(`${count}, the last: ${last}`)

function isOutage(error: unknown): boolean {
  return (
    isFileServiceError(error, 'store-unavailable') ||
    isFileServiceError(error, 'insufficient-storage')
  )
}
