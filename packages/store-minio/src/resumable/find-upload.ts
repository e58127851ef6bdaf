import { nameProblem, type UploadKey, uploadNotFound } from '@holdfast/core'
import { isUploadId } from './upload-keys.ts'
import type { UploadObjects } from './upload-objects.ts'
import { isKnown } from './upload-record.ts'
import { readRecord, type StoredRecord } from './upload-records.ts'

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
