import { type UploadKey, nameProblem, uploadNotFound } from '@holdfast/core'
import { abortMultipart } from '../write/abort-multipart.ts'
import { listBelow, removeObjects } from './part-objects.ts'
import { type UploadObjects, isUploadId } from './upload-keys.ts'
import { replaceRecord, type StoredRecord, readRecord } from './upload-records.ts'
import { isKnown } from './upload-record.ts'

/**
 * Drops an upload with all its objects; `false` where another process has changed it meanwhile. The record is marked first,
 * so that no one goes on with the upload, and removed last, so that a sweep finds what is left.
 */
export async function dropUpload(
  objects: UploadObjects,
  upload: UploadKey,
  stored: StoredRecord,
): Promise<boolean> {
  const { tail: _dropped, publishing, ...rest } = stored.record
  const marked = { ...rest, parts: [], isDiscarded: true }
  if (rest.isDiscarded !== true) {
    const replaced = await replaceRecord(objects, stored, marked)
    if (!replaced.stored) return false
  }
  if (publishing) {
    const key = objects.keys.keyOf({ customer: upload.customer, name: rest.plan.name })
    await abortMultipart({ ...objects, key }, publishing.multipartId)
  }
  await removeObjectsOf(objects, upload, stored.key)
  return true
}

/** Never throws: the upload is gone for all, and a sweep removes what stays. */
async function removeObjectsOf(
  objects: UploadObjects,
  upload: UploadKey,
  recordKey: string,
): Promise<void> {
  try {
    for await (const parts of listBelow(objects, objects.uploadKeys.partsPrefix(upload))) {
      await removeObjects(
        objects,
        parts.map(({ key }) => key),
      )
    }
    await removeObjects(objects, [recordKey])
  } catch (error) {
    objects.log.warn(`An upload could not be removed from the bucket whole: ${String(error)}`)
  }
}

/** The record of an upload that has neither expired nor been discarded; `undefined` if there is none. */
export async function lookUpUpload(
  objects: UploadObjects,
  { customer, id }: UploadKey,
): Promise<StoredRecord | undefined> {
  if (!isUploadId(id) || nameProblem(customer) !== undefined) return undefined
  const stored = await readRecord(objects, objects.uploadKeys.recordKey({ customer, id }))
  return stored && isKnown(stored.record, Date.now()) ? stored : undefined
}

/** The same. @throws FileServiceError `upload-not-found` */
export async function findUpload(objects: UploadObjects, upload: UploadKey): Promise<StoredRecord> {
  const stored = await lookUpUpload(objects, upload)
  if (!stored) throw uploadNotFound()
  return stored
}
