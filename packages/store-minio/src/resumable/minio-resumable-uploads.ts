import { basename, dirname } from 'node:path/posix'
import {
  type BlobInfo,
  createUploadQueue,
  requireLength,
  requireOffset,
  type ResumableUpload,
  type ResumableUploads,
  type UploadKey,
  type UploadPlan,
  mostPublished,
} from '@holdfast/core'
import type { ListedObject } from '../list/list-objects.ts'
import { appendContent } from './append-content.ts'
import { publishUpload, noteIfCompleted } from './publish-upload.ts'
import { createUploadId, type UploadObjects, expiresAfterMsOf } from './upload-keys.ts'
import {
  dropUpload,
  findUpload,
  lookUpUpload,
  forgetOldest,
  listUploadsOf,
  findOpenRecords,
  readParts,
  listBelow,
} from './upload-objects.ts'
import {
  describeUpload,
  partNames,
  progressOf,
  changesAllTheTime,
  createRecord,
  mostAttempts,
  replaceRecord,
  isKnown,
  readRecord,
  type UploadRecord,
} from './upload-records.ts'

/**
 * Stores uploads in pieces as objects beside the blobs: one small record for each, and parts that the record lists. The server must be
 * able to replace a record on condition that it is the one that was read.
 */
export function createMinioResumableUploads(objects: UploadObjects): ResumableUploads {
  const turns = createUploadQueue()
  const turnOf = (upload: UploadKey) => objects.uploadKeys.recordKey(upload)
  return {
    async begin(customer, plan) {
      const id = createUploadId(plan.expiresAfterMs)
      const key = objects.uploadKeys.recordKey({ customer, id })
      const { record } = await createRecord(objects, key, { customer, plan, parts: [] })
      return describeUpload(id, record)
    },

    async state(upload) {
      const stored = await lookUpUpload(objects, upload)
      return stored && describeUpload(upload.id, stored.record)
    },

    append: (upload, offset, content, options = {}) =>
      turns.run(turnOf(upload), async (interrupted) => {
        options.signal?.throwIfAborted()
        interrupted.throwIfAborted()
        const stored = await findUpload(objects, upload)
        requireOffset(progressOf(stored.record), offset)
        return appendContent(objects, stored, { ...options, upload, content, interrupted })
      }),

    interrupt: (upload) => turns.interrupt(turnOf(upload)),

    declareLength: (upload, length) => declareLength(objects, upload, length),

    content: (upload) => contentOf(objects, upload),

    publish: (upload) => turns.run(turnOf(upload), () => publishUpload(objects, upload)),

    remember: (customer, plan, published) => remember(objects, customer, plan, published),

    discard: (upload) => turns.run(turnOf(upload), () => discard(objects, upload)),

    list: (customer): AsyncIterable<readonly ResumableUpload[]> => listUploadsOf(objects, customer),

    sweep: (now) =>
      sweepUploads(objects, {
        now: now.getTime(),
        isRunning: (recordKey) => turns.isRunning(recordKey),
      }),
  }
}

/** Milliseconds for which a client whose blob is safe waits for its record. */
const recordPatienceMs = 2_000

/** Without a stored record the upload is not known, but the blob is safe. */
async function remember(
  objects: UploadObjects,
  customer: string,
  plan: UploadPlan,
  { size, etag, modifiedAt }: BlobInfo,
): Promise<ResumableUpload> {
  const id = createUploadId(plan.expiresAfterMs)
  const published = { size, etag, modifiedAt: modifiedAt.getTime() }
  const next = { customer, plan, parts: [], published }
  const key = objects.uploadKeys.recordKey({ customer, id })
  const record = { ...next, changedAt: Date.now(), revision: '' }
  const keeping = Promise.all([
    createRecord(objects, key, next),
    forgetOldest(objects, [{ key, record }]),
  ]).catch(() => undefined)
  const [stored] = (await atMost(recordPatienceMs, keeping)) ?? []
  return describeUpload(id, stored?.record ?? record)
}

/** The result of `promise`; `undefined` if it takes longer than `ms`. */
function atMost<T>(ms: number, promise: Promise<T>): Promise<T | undefined> {
  const late = Promise.withResolvers<undefined>()
  const timer = setTimeout(() => late.resolve(undefined), ms)
  return Promise.race([promise, late.promise]).finally(() => clearTimeout(timer))
}

async function declareLength(
  objects: UploadObjects,
  upload: UploadKey,
  length: number,
): Promise<void> {
  for (let attempt = 0; attempt < mostAttempts; attempt++) {
    const stored = await findUpload(objects, upload)
    const { record } = stored
    requireLength(progressOf(record), length)
    if (record.published || record.plan.length === length) return
    const next = { ...record, plan: { ...record.plan, length } }
    if ((await replaceRecord(objects, stored, next)).stored) return
  }
  throw changesAllTheTime()
}

async function* contentOf(objects: UploadObjects, upload: UploadKey): AsyncGenerator<Uint8Array> {
  const stored = await findUpload(objects, upload)
  yield* readParts(objects, upload, stored, partNames(stored.record))
}

async function discard(objects: UploadObjects, upload: UploadKey): Promise<boolean> {
  for (let attempt = 0; attempt < mostAttempts; attempt++) {
    const stored = await lookUpUpload(objects, upload)
    if (!stored) return false
    if (await dropUpload(objects, upload, stored)) return true
  }
  throw changesAllTheTime()
}

/** How many milliseconds the clocks of this machine and of the server may differ. */
const clockError = 15 * 60 * 1000

/** Milliseconds within which a live process records the end of a publication, by any clock. */
const openAfterMs = 2 * clockError

/** Milliseconds after which the outcome of a publication is uncertain, by any clock. */
const unclearAfterMs = 2 * 60 * 60 * 1000

/** Milliseconds after which a part that no record lists is a left-over: a stored part is listed within a minute. */
const orphanAfterMs = 6 * 60 * 60 * 1000

/** The same for an append that lists its parts at its end: milliseconds after the last time when it has renewed the record. */
const silentAfterMs = 24 * 60 * 60 * 1000

/** The most records of a customer that a sweep inspects for a surplus; the next sweep inspects the rest. */
const mostLookedAt = 10_000

interface UploadSweep {
  /** Milliseconds since 1970. */
  readonly now: number
  /** Whether this process is changing the upload. */
  readonly isRunning: (recordKey: string) => boolean
}

/**
 * Removes expired uploads, and parts that a crash has left. Records publications whose process ended before it did so. Resolves with the
 * number of unfinished uploads removed.
 */
async function sweepUploads(objects: UploadObjects, sweep: UploadSweep): Promise<number> {
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

/** Resolves with whether it has removed an unfinished upload. */
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

/** Forgets the oldest published uploads of a customer if there are too many: other processes may have published some. */
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
      const isListed = listing(stored?.record, now)
      await objects.own.remove(
        found.map(({ key }) => key).filter((key) => !isListed(basename(key))),
      )
    }
  }
}

/** Whether `record` lists the part of a name, or that of an append that goes on. */
function listing(record: UploadRecord | undefined, now: number): (name: string) => boolean {
  if (record === undefined) return () => false
  const names = new Set(partNames(record))
  const { waiting, changedAt } = record
  const begin = waiting && now < changedAt + silentAfterMs ? `${waiting}-` : undefined
  return (name) => names.has(name) || (begin !== undefined && name.startsWith(begin))
}
