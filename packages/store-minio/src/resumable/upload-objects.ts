import { basename } from 'node:path/posix'
import {
  type UploadKey,
  nameProblem,
  uploadNotFound,
  type ResumableUpload,
  FileServiceError,
  uploadTakenOver,
} from '@holdfast/core'
import { PutObjectCommand } from '@aws-sdk/client-s3'
import { translating } from '../http/s3-errors.ts'
import { type ListedObject, listObjects } from '../list/list-objects.ts'
import { readBlob } from '../read/read-blob.ts'
import type { Part } from '../write/parts.ts'
import { abortMultipart, checksum } from '../write/object-write.ts'
import { type UploadObjects, isUploadId } from './upload-keys.ts'
import {
  replaceRecord,
  type StoredRecord,
  readRecord,
  isKnown,
  describeUpload,
  isUnchanged,
} from './upload-records.ts'

/**
 * Drops an upload with all its objects; `false` if another process has changed it meanwhile. The record is marked first, so that no
 * process continues the upload, and removed last, so that a sweep finds what is left.
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

/** Never throws: the upload is already gone for all, and a sweep removes what stays. */
async function removeObjectsOf(
  objects: UploadObjects,
  upload: UploadKey,
  recordKey: string,
): Promise<void> {
  try {
    for await (const parts of listBelow(objects, objects.uploadKeys.partsPrefix(upload))) {
      await objects.own.remove(parts.map(({ key }) => key))
    }
    await objects.own.remove([recordKey])
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

/** Same as {@link lookUpUpload}, but @throws FileServiceError `upload-not-found` */
export async function findUpload(objects: UploadObjects, upload: UploadKey): Promise<StoredRecord> {
  const stored = await lookUpUpload(objects, upload)
  if (!stored) throw uploadNotFound()
  return stored
}

/** How many records are read at once; they make one page. */
const pageLength = 16

/** A customer's unfinished uploads, in pages. */
export async function* listUploadsOf(
  objects: UploadObjects,
  customer: string,
): AsyncGenerator<readonly ResumableUpload[]> {
  for await (const found of listBelow(objects, objects.uploadKeys.recordsPrefix(customer))) {
    for await (const stored of findOpenRecords(objects, found)) {
      const unfinished = stored.filter(({ record }) => !record.published)
      const uploads = unfinished.map(({ key, record }) => describeUpload(basename(key), record))
      if (uploads.length > 0) yield uploads
    }
  }
}

/** The records that `found` lists, in pages, without those known to be published. Remembers those that turn out to be. */
export async function* findOpenRecords(
  objects: UploadObjects,
  found: readonly Pick<ListedObject, 'key'>[],
): AsyncGenerator<readonly StoredRecord[]> {
  const open = found.filter(({ key }) => {
    const id = basename(key)
    return isUploadId(id) && !objects.published.has(id)
  })
  for (let at = 0; at < open.length; at += pageLength) {
    const reading = open.slice(at, at + pageLength).map(({ key }) => readRecord(objects, key))
    const read = (await Promise.all(reading)).flatMap((each) => each ?? [])
    const stored = read.filter(({ record }) => isKnown(record, Date.now()))
    await forgetOldest(
      objects,
      stored.filter(({ record }) => record.published),
    )
    yield stored
  }
}

/** Notes published uploads, and forgets the oldest ones if there are too many. Never rejects: the next sweep finds what stays. */
export async function forgetOldest(
  objects: UploadObjects,
  uploads: readonly Pick<StoredRecord, 'key' | 'record'>[],
): Promise<void> {
  const keys = uploads.flatMap(({ key, record: { customer, plan, changedAt } }) => {
    const upload = { id: basename(key), link: plan.link, changedAt }
    const oldest = objects.published.add(customer, upload)
    return oldest.map((id) => objects.uploadKeys.recordKey({ customer, id }))
  })
  await objects.own.remove(keys).catch(() => {})
}

/** Stores a part under a new name; then releases its buffer. */
export async function putPart(
  { s3, bucket, uploadKeys }: UploadObjects,
  upload: UploadKey,
  name: string,
  { bytes, crc32, release }: Part,
): Promise<void> {
  const command = new PutObjectCommand({
    ...{ Bucket: bucket, Key: uploadKeys.partsPrefix(upload) + name },
    ...{ Body: bytes, ContentLength: bytes.length, ChecksumCRC32: checksum(crc32) },
  })
  try {
    await translating(s3.send(command))
  } finally {
    release()
  }
}

/** The content of the parts `names` of the upload that `stored` describes, one after the other. */
export async function* readParts(
  objects: UploadObjects,
  upload: UploadKey,
  stored: StoredRecord,
  names: readonly string[],
): AsyncGenerator<Uint8Array> {
  for (const name of names) {
    const key = objects.uploadKeys.partsPrefix(upload) + name
    const part = await readBlob({ ...objects, key, name }, {})
    if (!part) {
      if (!(await isUnchanged(objects, stored))) throw uploadTakenOver()
      throw partLost()
    }
    yield* part.content
  }
}

export function partLost(cause?: unknown): FileServiceError {
  return new FileServiceError('store-unavailable', 'The store has lost a part of an upload', {
    cause,
  })
}

/** Removes parts that are in no record any more. Never throws: a sweep removes those that stay. */
export async function removeParts(
  objects: UploadObjects,
  upload: UploadKey,
  names: readonly string[],
): Promise<void> {
  const prefix = objects.uploadKeys.partsPrefix(upload)
  const keys = names.map((name) => prefix + name)
  await objects.own.remove(keys).catch((error: unknown) => {
    objects.log.warn(`Parts of an upload could not be removed from the bucket: ${String(error)}`)
  })
}

/** Objects below a prefix, in pages. */
export async function* listBelow(
  { s3, bucket }: UploadObjects,
  prefix: string,
): AsyncGenerator<readonly ListedObject[]> {
  for await (const { objects } of listObjects({ s3, bucket, prefix, isDeep: true })) yield objects
}
