import { randomUUID } from 'node:crypto'
import { type BlobInfo, isFileServiceError, requireComplete, type UploadKey } from '@holdfast/core'
import { isFull, translating } from '../errors/s3-errors.ts'
import { statObject } from '../read/stat-object.ts'
import { abortMultipart } from '../write/abort-multipart.ts'
import { describeWritten } from '../write/describe-written.ts'
import { findObject } from '../write/find-object.ts'
import type { ObjectWrite } from '../write/object-write.ts'
import { publishObject } from '../write/publish-object.ts'
import { findUpload } from './find-upload.ts'
import { completeJoined, findJoined, joinedTag, joinParts, type JoinedParts } from './join-parts.ts'
import { removeParts } from './part-objects.ts'
import type { UploadObjects } from './upload-objects.ts'
import {
  offsetOf,
  partNames,
  progressOf,
  publishedBlob,
  type Publication,
  type UploadRecord,
} from './upload-record.ts'
import {
  changesAllTheTime,
  mostAttempts,
  replaceRecord,
  type StoredRecord,
} from './upload-records.ts'

/**
 * Milliseconds for which a multipart upload that is gone must have been completed: servers remove unfinished ones after
 * a day, and no setting makes it less than an hour.
 */
const certainFor = 60 * 60 * 1000

/** A publication that the record knows of. */
interface Begun {
  readonly stored: StoredRecord
  readonly publishing: Publication
  /** If this call has made them. */
  readonly joined?: JoinedParts
}

/**
 * Makes the blob of the parts of an upload. First the server copies them into a multipart upload; then the record is
 * replaced by one that names it; then it is completed, which a server does once. So a later call knows of each step
 * whether it was taken.
 */
export async function publishUpload(objects: UploadObjects, upload: UploadKey): Promise<BlobInfo> {
  for (let attempt = 0; attempt < mostAttempts; attempt++) {
    const stored = await findUpload(objects, upload)
    const known = publishedBlob(stored.record)
    if (known) return known
    const { publishing } = stored.record
    const begun = publishing ? { stored, publishing } : await begin(objects, upload, stored)
    const info = begun && (await end(objects, upload, begun))
    if (info) return info
  }
  throw changesAllTheTime()
}

/** `undefined` where another process was quicker to change the upload. */
async function begin(
  objects: UploadObjects,
  upload: UploadKey,
  stored: StoredRecord,
): Promise<Begun | undefined> {
  const { record } = stored
  requireComplete(progressOf(record))
  const mark = randomUUID()
  const write = writeOf(objects, record, mark)
  const prefix = objects.uploadKeys.partsPrefix(upload)
  const joined = await joinParts(
    write,
    partNames(record).map((name) => prefix + name),
  )
  const { multipartId } = joined
  const publishing = { mark, multipartId, since: Date.now(), etag: joinedTag(joined) }
  const replaced = await replaceRecord(objects, stored, { ...record, publishing })
  if (replaced.stored) return { stored: replaced.stored, publishing, joined }
  await abortMultipart(write, multipartId)
  objects.underWay.delete(multipartId)
  return undefined
}

function writeOf(objects: UploadObjects, { customer, plan }: UploadRecord, mark: string) {
  const { name, createOnly = false } = plan
  const key = objects.keys.keyOf({ customer, name })
  return { ...objects, key, name, createOnly, mark }
}

/** `undefined` where the multipart upload was lost before it was completed; the record is without it then. */
async function end(
  objects: UploadObjects,
  upload: UploadKey,
  { stored, publishing, joined }: Begun,
): Promise<BlobInfo | undefined> {
  const { record } = stored
  const write = writeOf(objects, record, publishing.mark)
  const etag = await translating(complete(write, publishing, joined)).catch(
    async (error: unknown) => {
      // Only these say for certain that there is no blob; then the upload goes on as it was.
      if (isFileServiceError(error, 'already-exists') || isFull(error)) {
        await withdraw(objects, stored, write, publishing)
      }
      throw error
    },
  )
  objects.underWay.delete(publishing.multipartId)
  if (etag === undefined) {
    await withdraw(objects, stored, write, publishing)
    return undefined
  }
  const written = { size: offsetOf(record), etag }
  const found = await statObject(write).catch(() => undefined)
  const info = describeWritten(written, record.plan.name, found)
  const first = await remember(objects, stored, info)
  await removeParts(objects, upload, partNames(record))
  return first
}

async function complete(
  write: ObjectWrite,
  { mark, multipartId, since, etag }: Publication,
  joined: JoinedParts | undefined,
): Promise<string | undefined> {
  if (!joined) {
    const found = await findObject(write)
    if (found?.mark === mark) return found.etag
  }
  const ready = joined ?? (await findJoined(write, multipartId))
  // Completed, and replaced or deleted since.
  if (!ready) return Date.now() - since < certainFor ? etag : undefined
  const stop = new AbortController().signal
  return publishObject(write, () => completeJoined(write, ready), { stop, isDoneOnce: true })
}

/** Takes the publication out of the record; only then is it certain that no one completes it. */
async function withdraw(
  objects: UploadObjects,
  stored: StoredRecord,
  write: ObjectWrite,
  { multipartId }: Publication,
): Promise<void> {
  const { publishing: _withdrawn, ...rest } = stored.record
  const replaced = await replaceRecord(objects, stored, rest)
  if (replaced.stored) await abortMultipart(write, multipartId)
  objects.underWay.delete(multipartId)
}

/**
 * Keeps what was published; resolves to what is kept, which another process may have been quicker to do. Where that fails,
 * the next call finds the blob by its mark.
 */
async function remember(
  objects: UploadObjects,
  stored: StoredRecord,
  info: BlobInfo,
): Promise<BlobInfo> {
  const { tail: _joined, publishing: _ended, ...rest } = stored.record
  const { size, etag, modifiedAt } = info
  const published = { size, etag, modifiedAt: modifiedAt.getTime() }
  const replaced = await replaceRecord(objects, stored, { ...rest, parts: [], published })
  if (replaced.stored || !replaced.found) return info
  const { found } = replaced
  if (found.record.publishing) return remember(objects, found, info)
  return publishedBlob(found.record) ?? info
}
