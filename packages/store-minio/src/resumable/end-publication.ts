import { setTimeout as delay } from 'node:timers/promises'
import { type BlobInfo, type UploadKey, uploadNotFound } from '@holdfast/core'
import { pauseBeforeRepeating } from '../errors/retry-strategy.ts'
import { isAnswer, mayBeDone, translateError } from '../errors/s3-errors.ts'
import { statObject } from '../read/stat-object.ts'
import { describeWritten, type ObjectWrite } from '../write/object-write.ts'
import { findObject } from '../write/find-object.ts'
import { nameIsTaken } from '../write/publish-object.ts'
import { dropUpload } from './drop-upload.ts'
import { completeJoined, findJoined, listJoined, type JoinedParts } from './join-parts.ts'
import { forgetOldest } from './list-uploads-of.ts'
import { removeParts } from './part-objects.ts'
import type { UploadObjects } from './upload-keys.ts'
import {
  offsetOf,
  partNames,
  publishedBlob,
  type Publication,
  type UploadRecord,
} from './upload-record.ts'
import { isUnchanged, replaceRecord, type StoredRecord } from './upload-records.ts'

/** Milliseconds for which no server removes a multipart upload by itself: after a day by default, after an hour at the least. */
const certainForMs = 60 * 60 * 1000

/** A publication that the record knows of. */
export interface Begun {
  readonly stored: StoredRecord
  readonly publishing: Publication
  /** If this call has made them. */
  readonly joined?: JoinedParts
}

export interface BlobWrite extends UploadObjects, ObjectWrite {
  readonly name: string
}

/** How the blob of an upload is written. */
export function writeOf(
  objects: UploadObjects,
  { customer, plan }: UploadRecord,
  mark: string,
): BlobWrite {
  const { name, createOnly = false } = plan
  const key = objects.keys.keyOf({ customer, name })
  return { ...objects, key, name, createOnly, mark }
}

/**
 * Completes a publication. If that fails, the publication stays in the record, and the next call completes it. It is never withdrawn: MinIO
 * reports the success of an abort even if the multipart upload was completed before, so that no one can know which of both happened.
 * Resolves to `undefined` if the record has changed meanwhile: then the caller reads it again.
 */
export async function endPublication(
  objects: UploadObjects,
  upload: UploadKey,
  { stored, publishing, joined }: Begun,
): Promise<BlobInfo | undefined> {
  const write = writeOf(objects, stored.record, publishing.mark)
  try {
    const etag = await complete(write, stored, publishing, joined)
    if (etag === undefined) return await findOutcome(objects, upload, stored, write)
    return await keep(objects, upload, stored, write, etag)
  } catch (error) {
    throw translateError(error)
  } finally {
    objects.underWay.delete(publishing.multipartId)
  }
}

/** Resolves to the blob's entity tag; `undefined` where the multipart upload is gone, or the record has changed. */
async function complete(
  write: BlobWrite,
  stored: StoredRecord,
  { mark, multipartId }: Publication,
  joined: JoinedParts | undefined,
): Promise<string | undefined> {
  for (let count = 1; ; count++) {
    try {
      const ready = joined ?? (await listJoined(write, multipartId))
      return (await completeJoined(write, ready)) ?? ''
    } catch (error) {
      const isTaken = isAnswer(error, 'PreconditionFailed')
      const isGone = isAnswer(error, 'NoSuchUpload')
      if (!isTaken && !isGone && !mayBeDone(error)) throw error
      const found = await findObject(write)
      if (found?.mark === mark) return found.etag
      if (isGone && !(await isUnchanged(write, stored))) return undefined
      // Another process may have completed it, and a third one have replaced the blob.
      if (isTaken && (await findJoined(write, multipartId))) throw nameIsTaken(error)
      // The server carries it out once, however often it is sent.
      const pause = pauseBeforeRepeating(error, count)
      if (isTaken || (isGone && pause === undefined)) return undefined
      if (pause === undefined) throw error
      await delay(pause)
    }
  }
}

/**
 * What became of a publication whose multipart upload is gone. If the record is unchanged, no one has discarded the upload, so it was
 * completed. After an hour a server may have removed it as unfinished. Then the upload is dropped: to report it as stored may be false, and
 * to publish it again may bring back a deleted file.
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
 * Notes in the record that a publication was completed by a process that has not done so itself, while that is certain. One that is not
 * completed stays as it is: its client may complete it, and what was stored under the name since must not be replaced without him.
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

/** Keeps what was published, and removes the parts once the record says so. */
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
 * Resolves to what is kept, which another process may have been quicker to do; `undefined` where the upload was dropped meanwhile. Where it
 * fails, the next call finds the blob by its mark.
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
