import { basename, dirname } from 'node:path/posix'
import { mostPublished } from '@holdfast/core'
import { dropUpload } from './drop-upload.ts'
import { noteIfCompleted } from './end-publication.ts'
import type { ListedObject } from '../list/list-objects.ts'
import { findOpenRecords } from './list-uploads-of.ts'
import { listBelow, removeObjects } from './part-objects.ts'
import { expiresAfterMsOf, type UploadObjects } from './upload-keys.ts'
import { isKnown, partNames } from './upload-record.ts'
import { readRecord } from './upload-records.ts'

/** Milliseconds that the clocks of this machine and of the server may differ by. */
const clockError = 15 * 60 * 1000

/** Milliseconds in which a process has noted the end of a publication, if it lives, by any clock. */
const openAfterMs = 2 * clockError

/** Milliseconds after which the outcome of a publication is not certain any more, by any clock. */
const unclearAfterMs = 2 * 60 * 60 * 1000

/** Milliseconds after which a part that no record lists is a left-over: one that is stored is recorded within a minute. */
const orphanAfterMs = 6 * 60 * 60 * 1000

/** How many records of a customer a sweep looks at for a surplus: the next one looks at those that are left. */
const mostLookedAt = 10_000

export interface UploadSweep {
  /** Milliseconds since 1970. */
  readonly now: number
  /** Whether this process is changing the upload. */
  readonly isRunning: (recordKey: string) => boolean
}

/**
 * Removes what has expired, and parts that a crash has left. Notes publications whose process has ended before it did so. Resolves to the
 * number of unfinished uploads removed.
 */
export async function sweepUploads(objects: UploadObjects, sweep: UploadSweep): Promise<number> {
  const removed = await sweepRecords(objects, sweep)
  await removeOrphans(objects, sweep)
  return removed
}

async function sweepRecords(objects: UploadObjects, sweep: UploadSweep): Promise<number> {
  let removed = 0
  const ofCustomer: ListedObject[] = []
  for await (const records of listBelow(objects, objects.uploadKeys.recordsPrefix())) {
    for (const found of records) {
      const isOfNext = ofCustomer[0] && dirname(ofCustomer[0].key) !== dirname(found.key)
      if (isOfNext) await forgetSurplus(objects, ofCustomer.splice(0))
      if (await sweepRecord(objects, sweep, found)) removed++
      else if (ofCustomer.length < mostLookedAt) ofCustomer.push(found)
    }
  }
  await forgetSurplus(objects, ofCustomer)
  return removed
}

/** Whether it was of an unfinished upload, and is gone. */
async function sweepRecord(
  objects: UploadObjects,
  { now, isRunning }: UploadSweep,
  { key, modifiedAt }: ListedObject,
): Promise<boolean> {
  const id = basename(key)
  const expiresAfterMs = expiresAfterMsOf(id)
  if (expiresAfterMs === undefined || isRunning(key)) return false
  const age = now - modifiedAt.getTime()
  const mayBeOpen = openAfterMs < age && age < unclearAfterMs
  if (age < expiresAfterMs - clockError && !mayBeOpen) return false
  const stored = await readRecord(objects, key)
  if (!stored) return false
  const { customer, published, isDiscarded } = stored.record
  if (isKnown(stored.record, now)) {
    await noteIfCompleted(objects, { customer, id }, stored)
    return false
  }
  const isOurs = await dropUpload(objects, { customer, id }, stored)
  return isOurs && !published && isDiscarded !== true
}

/** Has the oldest published uploads of a customer forgotten if there are too many, since other processes have published some. */
async function forgetSurplus(
  objects: UploadObjects,
  records: readonly ListedObject[],
): Promise<void> {
  if (records.length <= mostPublished.byLink) return
  for await (const _page of findOpenRecords(objects, records));
}

async function removeOrphans(
  objects: UploadObjects,
  { now, isRunning }: UploadSweep,
): Promise<void> {
  for await (const parts of listBelow(objects, objects.uploadKeys.partsPrefix())) {
    const old = parts.filter(({ modifiedAt }) => modifiedAt.getTime() + orphanAfterMs < now)
    const byRecord = Map.groupBy(old, ({ key }) => objects.uploadKeys.recordOfPart(key))
    for (const [recordKey, found] of byRecord) {
      if (recordKey === undefined || isRunning(recordKey)) continue
      const stored = await readRecord(objects, recordKey)
      const listed = new Set(stored ? partNames(stored.record) : [])
      const orphans = found.map(({ key }) => key).filter((key) => !listed.has(basename(key)))
      await removeObjects(objects, orphans)
    }
  }
}
