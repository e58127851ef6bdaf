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
} from '@holdfast/core'
import { lastFailedSync, type FileCalls } from '../files/file-calls.ts'
import { isAbsence } from '../files/system-error.ts'
import { describeUpload } from './find-upload.ts'
import { preparePublication } from './prepare-publication.ts'
import { nameRecord } from './record-file.ts'
import { takeUpload, type Unpublished } from './take-upload.ts'
import type { UploadLease } from './upload-lease.ts'
import { recordName, type UploadSite } from './upload-site.ts'
import type { WatchedLeases } from './watched-leases.ts'
import { writeDurably } from './write-durably.ts'

export interface Append {
  readonly key: UploadKey
  readonly offset: number
  readonly content: AsyncIterable<Uint8Array>
  readonly options: AppendOptions
}

const { O_WRONLY, O_APPEND } = constants

/** The new offset, or what the caller gets instead: his own error, as he threw it. */
export type Appended = { readonly offset: number } | { readonly error: unknown }

/** Adds the content to an upload that no other work of this process uses, until `ending` aborts. */
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
  /** The path of the record that the last piece comes with, until it has its name. */
  let record: string | undefined
  // Without O_CREAT: after a standstill the content may be another process's, under another name.
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
    if (isFull(failure?.error)) await giveBack(file, plan, lease, calls)
    return failure ?? { offset: lease.offset() }
  } catch (error) {
    if (isFull(error)) await giveBack(file, plan, lease, calls)
    throw error
  } finally {
    await calls.close(file)
    if (record !== undefined) await tempDirectory.remove(record)
  }
}

function isFull(error: unknown): boolean {
  return isFileServiceError(error, 'insufficient-storage')
}

/** Drops what does not count, and has the upload expire soon, so that others have room on a disk that is full. */
async function giveBack(
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
    // The first sweep after its usual expiry removes it.
  }
}

/** Syncs a content that is complete. The record for its publication can wait for that, unless a sync has failed. */
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

/** Drops what is beyond the first `size` bytes: a process that has ended wrote it, and did not make it count. */
export async function trim(file: number, size: number, calls: FileCalls): Promise<void> {
  const stats = await calls.stat(file)
  if (stats.size < size) throw new Error(`${stats.size} of ${size} bytes of an upload are left`)
  if (stats.size > size) await calls.truncate(file, size)
}
