import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import {
  type BlobInfo,
  requireComplete,
  type UploadKey,
  uploadNotFound,
  nameTaken,
} from '@holdfast/core'
import {
  pauseBeforeRepeating,
  translating,
  isAnswer,
  isConflict,
  mayBeDone,
  translateError,
} from '../http/s3-errors.ts'
import { statObject, findObject } from '../read/stat-object.ts'
import {
  joinedTag,
  joinParts,
  type JoinedParts,
  completeJoined,
  findJoined,
  listJoined,
} from '../write/copy-object.ts'
import { abortMultipart, describeWritten, type ObjectWrite } from '../write/object-write.ts'
import type { UploadObjects } from './upload-keys.ts'
import { findUpload, dropUpload, forgetOldest, partLost, removeParts } from './upload-objects.ts'
import {
  partNames,
  progressOf,
  publishedBlob,
  changesAllTheTime,
  isUnchanged,
  mostAttempts,
  replaceRecord,
  type StoredRecord,
  offsetOf,
  type Publication,
  type UploadRecord,
} from './upload-records.ts'

/**
 * Makes the blob from the parts of an upload. First the server copies them into a multipart upload. Then a new record names that. Then it
 * is completed, which a server does only once. So a later call can find out which of these steps were done.
 */
export async function publishUpload(objects: UploadObjects, upload: UploadKey): Promise<BlobInfo> {
  for (let attempt = 0; attempt < mostAttempts; attempt++) {
    const stored = await findUpload(objects, upload)
    const known = publishedBlob(stored.record)
    if (known) return known
    const { publishing } = stored.record
    const begun = publishing ? { stored, publishing } : await begin(objects, upload, stored)
    const info = begun && (await endPublication(objects, upload, begun))
    if (info) return info
  }
  throw changesAllTheTime()
}

/** `undefined` if another process has changed the upload first. */
async function begin(
  objects: UploadObjects,
  upload: UploadKey,
  stored: StoredRecord,
): Promise<Begun | undefined> {
  const { record } = stored
  requireComplete(progressOf(record))
  const mark = randomUUID()
  const write = writeOf(objects, record, mark)
  // Checked before all parts are copied in vain.
  if (write.createOnly && (await translating(findObject(write)))) throw nameTaken()
  const joined = await join(objects, upload, stored, mark)
  if (!joined) return undefined
  const { multipartId } = joined
  const publishing = { mark, multipartId, since: Date.now(), etag: joinedTag(joined) }
  const replaced = await replaceRecord(objects, stored, { ...record, publishing })
  if (replaced.stored) return { stored: replaced.stored, publishing, joined }
  await abortMultipart(write, multipartId)
  objects.underWay.delete(multipartId)
  return undefined
}

/** `undefined` if parts are gone, since another process has changed the upload. */
async function join(
  objects: UploadObjects,
  upload: UploadKey,
  stored: StoredRecord,
  mark: string,
): Promise<JoinedParts | undefined> {
  const prefix = objects.uploadKeys.partsPrefix(upload)
  const parts = partNames(stored.record).map((name) => ({ key: prefix + name }))
  try {
    return await translating(joinParts(writeOf(objects, stored.record, mark), parts))
  } catch (error) {
    if (!(await isUnchanged(objects, stored))) return undefined
    throw isAnswer(error, 'NoSuchKey') ? partLost(error) : error
  }
}

/** Milliseconds for which no server removes a multipart upload by itself: the default is a day, the minimum an hour. */
const certainForMs = 60 * 60 * 1000

/** A publication that is in the record. */
interface Begun {
  readonly stored: StoredRecord
  readonly publishing: Publication
  /** Set if this call has made them. */
  readonly joined?: JoinedParts
}

interface BlobWrite extends UploadObjects, ObjectWrite {
  readonly name: string
}

/** How the blob of an upload is written. */
function writeOf(
  objects: UploadObjects,
  { customer, plan }: UploadRecord,
  mark: string,
): BlobWrite {
  const { name, createOnly = false } = plan
  const key = objects.keys.keyOf({ customer, name })
  return { ...objects, key, name, createOnly, mark }
}

/**
 * Completes a publication. If that fails, the publication stays in the record, and the next call completes it. It is never withdrawn:
 * MinIO reports success for an abort even if the multipart upload was completed before, so no process could know which happened. Resolves
 * with `undefined` if the record has changed meanwhile: then the caller reads it again.
 */
async function endPublication(
  objects: UploadObjects,
  upload: UploadKey,
  { stored, publishing, joined }: Begun,
): Promise<BlobInfo | undefined> {
  const write = writeOf(objects, stored.record, publishing.mark)
  const watch = await write.removals.watch(write.key)
  try {
    const etag = await complete(write, stored, publishing, joined)
    if (etag === undefined) return await findOutcome(objects, upload, stored, write)
    return await keep(objects, upload, stored, write, etag)
  } catch (error) {
    throw translateError(error)
  } finally {
    watch.end()
    objects.underWay.delete(publishing.multipartId)
  }
}

/** Resolves with the blob's entity tag; `undefined` if the multipart upload is gone, or the record has changed. */
async function complete(
  write: BlobWrite,
  stored: StoredRecord,
  { mark, multipartId }: Publication,
  joined: JoinedParts | undefined,
): Promise<string | undefined> {
  let isRefused = false
  for (let count = 1; ; count++) {
    try {
      const ready = joined ?? (await listJoined(write, multipartId))
      return (await completeJoined(write, ready)) ?? ''
    } catch (error) {
      const isTaken = isAnswer(error, 'PreconditionFailed')
      const isGone = isAnswer(error, 'NoSuchUpload')
      isRefused ||= isConflict(error)
      if (!isTaken && !isGone && !isRefused && !mayBeDone(error)) throw error
      const found = await findObject(write)
      if (found?.mark === mark) return found.etag
      // After a conflict, S3 may take no more requests for this multipart upload: the next publication begins anew.
      if (isGone && isRefused) {
        await replaceRecord(write, stored, { ...stored.record, publishing: undefined })
        return undefined
      }
      if (isGone && !(await isUnchanged(write, stored))) return undefined
      // Another process may have completed it, and a third one may have replaced the blob.
      const isLate = isTaken || (isConflict(error) && found !== undefined)
      if (isLate && (await findJoined(write, multipartId))) throw nameTaken(error)
      // The server carries out this request once, however often it is sent.
      const pause = pauseBeforeRepeating(error, count)
      if (isTaken || (isGone && pause === undefined)) return undefined
      if (pause === undefined) throw error
      await delay(pause)
    }
  }
}

/**
 * The outcome of a publication whose multipart upload is gone. If the record is unchanged, no process has discarded the upload, so it was
 * completed. But after an hour a server may have removed it as unfinished. Then the upload is dropped: to report it as stored may be
 * false, and to publish it again may bring back a deleted file.
 */
async function findOutcome(
  objects: UploadObjects,
  upload: UploadKey,
  stored: StoredRecord,
  write: BlobWrite,
): Promise<BlobInfo | undefined> {
  const { publishing } = stored.record
  const found = await findObject(write)
  if (found?.mark === write.mark) return keep(objects, upload, stored, write, found.etag)
  if (!publishing || !(await isUnchanged(objects, stored))) return undefined
  if (isCertain(objects, publishing)) return keep(objects, upload, stored, write, publishing.etag)
  if (!(await dropUpload(objects, upload, stored))) return undefined
  objects.log.warn('An upload was dropped: whether it was published is not known')
  throw uploadNotFound()
}

function isCertain({ sparedForMs }: UploadObjects, { since }: Publication): boolean {
  return Date.now() - since < Math.min(certainForMs, sparedForMs)
}

/**
 * Records that a publication was completed, if the process that did so has not recorded it, and as long as that is certain. A publication
 * that is not completed stays: its client may complete it, and only the client may replace what was stored under the name since.
 */
export async function noteIfCompleted(
  objects: UploadObjects,
  upload: UploadKey,
  stored: StoredRecord,
): Promise<void> {
  const { publishing } = stored.record
  if (!publishing || !isCertain(objects, publishing)) return
  const write = writeOf(objects, stored.record, publishing.mark)
  if (await findJoined(write, publishing.multipartId)) return
  await findOutcome(objects, upload, stored, write)
}

/** Records what was published, and removes the parts once that is done. */
async function keep(
  objects: UploadObjects,
  upload: UploadKey,
  stored: StoredRecord,
  write: BlobWrite,
  etag: string,
): Promise<BlobInfo> {
  const { record } = stored
  const written = { size: offsetOf(record), etag }
  const found = await statObject(write).catch(() => undefined)
  const info = describeWritten(written, record.plan.name, found)
  const kept = await remember(objects, stored, info)
  if (!kept) return info
  await Promise.all([
    removeParts(objects, upload, partNames(record)),
    forgetOldest(objects, [stored]),
  ])
  return kept
}

/**
 * Resolves with what is recorded, perhaps by another process first; `undefined` if the upload was dropped meanwhile. After a failure, the
 * next call finds the blob by its mark.
 */
async function remember(
  objects: UploadObjects,
  stored: StoredRecord,
  info: BlobInfo,
): Promise<BlobInfo | undefined> {
  const { tail: _joined, publishing: _ended, ...rest } = stored.record
  const { size, etag, modifiedAt } = info
  const published = { size, etag, modifiedAt: modifiedAt.getTime() }
  const replaced = await replaceRecord(objects, stored, { ...rest, parts: [], published })
  if (replaced.stored) return info
  const { found } = replaced
  const isOpen = found?.record.publishing && found.record.isDiscarded !== true
  if (isOpen) return remember(objects, found, info)
  return found && publishedBlob(found.record)
}
