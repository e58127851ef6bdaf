import { constants } from 'node:fs'
import { utimes } from 'node:fs/promises'
import { join } from 'node:path'
import {
  abortable,
  type AppendOptions,
  expiryWhenFullMs,
  isFileServiceError,
  requireOffset,
  type UploadKey,
  type UploadPlan,
  uploadPublished,
  uploadTakenOver,
  type BlobInfo,
} from '@holdfast/core'
import { crashPoint } from '../files/crash-point.ts'
import {
  lastFailedSync,
  type FileCalls,
  isAbsence,
  translateFsError,
  blobInfo,
} from '../files/file-calls.ts'
import { createFileWriter, writeChunks, type IncrementalSync } from '../write/file-writer.ts'
import { nextModificationTime } from '../write/publish-file.ts'
import { describeUpload } from './find-upload.ts'
import {
  takeUpload,
  type Unpublished,
  type UploadLease,
  type WatchedLeases,
} from './upload-lease.ts'
import { nameRecord, prepareRecord } from './upload-record.ts'
import { recordName, type UploadSite } from './upload-site.ts'

export interface Append {
  readonly key: UploadKey
  readonly offset: number
  readonly content: AsyncIterable<Uint8Array>
  readonly options: AppendOptions
}

const { O_WRONLY, O_APPEND } = constants

/** The new offset, or the error that ended the append early, as it was thrown. */
export type Appended = { readonly offset: number } | { readonly error: unknown }

/** Appends the content to an upload until `ending` aborts. No other work of this process may use the upload. */
export async function appendToUpload(
  site: UploadSite,
  leases: WatchedLeases,
  append: Append,
  ending: AbortSignal,
): Promise<Appended> {
  const { key, offset } = append
  const { found, lease } = await takeUpload(site, key)
  if (!lease) throw uploadPublished()
  try {
    requireOffset(found, offset)
    await lease.unshare()
    append.options.onState?.(describeUpload(key.id, found))
    return await leases.watch(lease, (wanted) =>
      fill(site, { found, lease }, append, [ending, wanted]),
    )
  } finally {
    await lease.release()
  }
}

async function fill(
  site: UploadSite,
  { found, lease }: { readonly found: Unpublished; readonly lease: UploadLease },
  { key, offset, content, options }: Append,
  endings: readonly AbortSignal[],
): Promise<Appended> {
  const { calls, tempDirectory } = site
  const { signal, allOrNothing = false, release = () => {}, onState } = options
  const ended = AbortSignal.any([...endings, ...(signal ? [signal] : [])])
  const { plan } = found.record
  /** The temporary path of the record that belongs to the last piece, until it is renamed. */
  let record: string | undefined
  // Without O_CREAT: if this process stood still, another one may have taken and renamed the content.
  const file = await calls.open(lease.path(), O_WRONLY | O_APPEND).catch((error: unknown) => {
    throw isAbsence(error) ? uploadTakenOver() : error
  })
  const report = async () => {
    if (!onState) return
    const { mtimeNs } = await calls.stat(file)
    const expiresAt = Number(mtimeNs) / 1e6 + found.record.plan.expiresAfterMs
    onState(describeUpload(key.id, { ...found, offset: lease.offset(), expiresAt }))
  }
  try {
    await trim(file, offset, calls)
    const failure = await writeDurably({
      file,
      content: abortable(content, ended),
      ...{ calls, allOrNothing, release },
      syncLast: async (bytes) => {
        if (offset + bytes !== plan.length) return calls.datasync(file)
        record = await prepareLast(site, file, plan)
      },
      acknowledge: async (bytes) => {
        await lease.acknowledge(offset + bytes, async () => {
          if (record !== undefined) await nameRecord(lease.directory, record, calls)
          record = undefined
        })
        await report()
      },
    })
    if (failure && allOrNothing) await calls.truncate(file, offset)
    if (isFull(failure?.error)) await freeDiskSpace(file, plan, lease, calls)
    return failure ?? { offset: lease.offset() }
  } catch (error) {
    if (isFull(error)) await freeDiskSpace(file, plan, lease, calls)
    throw error
  } finally {
    await calls.close(file)
    if (record !== undefined) await tempDirectory.remove(record)
  }
}

function isFull(error: unknown): boolean {
  return isFileServiceError(error, 'insufficient-storage')
}

/** Drops the bytes that do not count, and makes the upload expire soon, so that others have room on a full disk. */
async function freeDiskSpace(
  file: number,
  { expiresAfterMs }: UploadPlan,
  lease: UploadLease,
  calls: FileCalls,
): Promise<void> {
  const changedAt = new Date(Date.now() - Math.max(0, expiresAfterMs - expiryWhenFullMs))
  try {
    await calls.truncate(file, lease.offset())
    await calls.setTimes(file, changedAt.getTime() / 1000)
    await utimes(join(lease.directory, recordName), changedAt, changedAt)
  } catch {
    // Then the first sweep after its usual expiry removes it.
  }
}

/** Syncs a complete content, and prepares its record. If only the record fails, and no sync has failed, it can be written later. */
async function prepareLast(
  site: UploadSite,
  file: number,
  plan: UploadPlan,
): Promise<string | undefined> {
  const failedBefore = lastFailedSync()
  const { record } = await preparePublication(site, file, plan)
  if (record.status === 'fulfilled') return record.value
  if (lastFailedSync() !== failedBefore) throw record.reason
  return undefined
}

/** Drops the bytes after the first `size`: a process wrote them, and ended before it made them count. */
export async function trim(file: number, size: number, calls: FileCalls): Promise<void> {
  const stats = await calls.stat(file)
  if (stats.size < size) throw new Error(`${stats.size} of ${size} bytes of an upload are left`)
  if (stats.size > size) await calls.truncate(file, size)
}

interface PreparedPublication {
  /** The blob that the content is about to become. */
  readonly published: BlobInfo
  /** The path of the record that names that blob, or why it could not be written. */
  readonly record: PromiseSettledResult<string>
}

/**
 * Sets the time of the complete content in `file` for its entity tag, and syncs it. At the same time writes the record of the blob that
 * the content is about to become; the caller places or removes the record.
 */
export async function preparePublication(
  site: UploadSite,
  file: number,
  plan: UploadPlan,
): Promise<PreparedPublication> {
  const { calls, tempDirectory, writer } = site
  await calls.setTimes(file, nextModificationTime(writer))
  const published = blobInfo(plan.name, await calls.stat(file))
  const [synced, record] = await Promise.allSettled([
    calls.sync(file),
    prepareRecord({ plan, publishing: published }, site),
  ])
  if (synced.status === 'fulfilled') {
    crashPoint('content-synced')
    return { published, record }
  }
  if (record.status === 'fulfilled') await tempDirectory.remove(record.value)
  throw synced.reason
}

interface DurableWrite {
  readonly file: number
  readonly content: AsyncIterable<Uint8Array>
  readonly calls: FileCalls
  /** Whether bytes count only if all arrive. */
  readonly allOrNothing: boolean
  readonly release: (chunk: Uint8Array) => void
  /** Syncs the file when all of the content has been written. */
  readonly syncLast: (bytes: number) => Promise<void>
  /** Makes the first `bytes` of the content count; they have been synced. */
  readonly acknowledge: (bytes: number) => Promise<void>
}

/**
 * Appends the content to the file, and makes it durable while it arrives. However the content ends, the bytes that arrived count, unless
 * `allOrNothing`. If the disk has no room for all of it, only the bytes acknowledged by then count. Resolves with the failure of the
 * content, or of writing, if there was one; rejects if the bytes cannot be made durable.
 */
async function writeDurably(write: DurableWrite): Promise<{ readonly error: unknown } | undefined> {
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

/** Bytes between two syncs. */
const interval = 24 * 1024 * 1024

/** The most bytes that do not count yet, without the write in progress: a writer that is faster than the disk waits. */
const most = 254 * 1024 * 1024

/** The longest time between two syncs, in milliseconds, if the content arrives slowly. */
const slow = 10_000

/** Synced bytes, or milliseconds, between two acknowledgements. Each syncs a directory, which delays the content. */
const stride = { bytes: 96 * 1024 * 1024, ms: 1_000 }

interface DurableProgress extends IncrementalSync {
  /** Bytes written so far. */
  written(): number
  /** Resolves when all written bytes are durable and acknowledged. `sync` syncs what is not synced yet. */
  finish(sync?: () => Promise<void>): Promise<void>
}

/**
 * Syncs `file` while it is written, and calls `acknowledge` with the number of durable bytes: after the first sync, after later ones once
 * a stride of bytes or time has passed, and at the end. Meanwhile it syncs the next bytes, so that the disk is never idle. After a failure
 * no more bytes count: the kernel drops the pages that it could not write.
 */
function createDurableProgress(
  file: number,
  calls: FileCalls,
  acknowledge: (bytes: number) => Promise<void> = async () => {},
): DurableProgress {
  let written = 0
  let begun = 0
  let synced = 0
  let acknowledged = 0
  let begunAt = performance.now()
  let noted = 0
  let notedAt = -Infinity
  let syncing: Promise<void> | undefined
  let acknowledging = Promise.resolve()

  const acknowledgeAfter = async (before: Promise<void>, bytes: number) => {
    await before
    await translateFsError(acknowledge(bytes))
    acknowledged = bytes
  }

  /** Acknowledges what is synced. */
  const note = () => {
    noted = synced
    notedAt = performance.now()
    acknowledging = acknowledgeAfter(acknowledging, synced)
    acknowledging.catch(() => {})
  }

  const isDue = () =>
    synced - noted >= stride.bytes ||
    performance.now() - notedAt >= stride.ms ||
    written - noted >= most

  const datasync = () => calls.datasync(file)

  const sync = async (bytes: number, syncFile: () => Promise<void>) => {
    await translateFsError(syncFile())
    crashPoint('upload-content-synced')
    synced = bytes
    if (isDue()) note()
    // After a failure `syncing` keeps the rejected promise.
    syncing = undefined
    if (written - begun >= interval) begin()
  }

  const begin = (syncFile = datasync) => {
    begun = written
    begunAt = performance.now()
    syncing = sync(written, syncFile)
    syncing.catch(() => {})
  }

  const end = async () => {
    try {
      while (syncing) await syncing
    } finally {
      // Also after a failed sync: nothing may use the lease or the file any more when the caller releases them.
      await acknowledging.catch(() => {})
    }
    await acknowledging
  }

  /** Resolves when the disk has caught up. */
  const room = async () => {
    while (written - acknowledged >= most) {
      await acknowledging
      if (written - acknowledged < most) return
      if (!syncing) begin()
      await syncing
    }
  }

  return {
    written: () => written,
    wrote(bytes) {
      written += bytes
      const isDue = written - begun >= interval || performance.now() - begunAt > slow
      if (isDue && !syncing) begin()
      return written - acknowledged >= most ? room() : undefined
    },
    end,
    async finish(syncFile) {
      await end()
      if (written === acknowledged) return
      begin(syncFile)
      await end()
      if (noted < synced) note()
      await acknowledging
    },
  }
}
