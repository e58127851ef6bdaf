import { randomUUID } from 'node:crypto'
import { type BlobInfo, requireComplete, type UploadKey } from '@holdfast/core'
import { findObject } from '../write/find-object.ts'
import { abortMultipart } from '../write/abort-multipart.ts'
import { nameIsTaken } from '../write/publish-object.ts'
import { translating } from '../errors/s3-errors.ts'
import { type Begun, endPublication, writeOf } from './end-publication.ts'
import { findUpload } from './drop-upload.ts'
import { joinedTag, joinParts, type JoinedParts } from './join-parts.ts'
import type { UploadObjects } from './upload-keys.ts'
import { partNames, progressOf, publishedBlob } from './upload-record.ts'
import {
  changesAllTheTime,
  isUnchanged,
  mostAttempts,
  replaceRecord,
  type StoredRecord,
} from './upload-records.ts'

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
    const info = begun && (await endPublication(objects, upload, begun))
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
  // Before all parts are copied in vain.
  if (write.createOnly && (await translating(findObject(write)))) throw nameIsTaken()
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

/** `undefined` where parts are gone, since another process has changed the upload. */
async function join(
  objects: UploadObjects,
  upload: UploadKey,
  stored: StoredRecord,
  mark: string,
): Promise<JoinedParts | undefined> {
  const prefix = objects.uploadKeys.partsPrefix(upload)
  const names = partNames(stored.record).map((name) => prefix + name)
  try {
    return await joinParts(writeOf(objects, stored.record, mark), names)
  } catch (error) {
    if (await isUnchanged(objects, stored)) throw error
    return undefined
  }
}
