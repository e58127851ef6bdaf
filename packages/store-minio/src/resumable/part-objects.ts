import { PutObjectCommand } from '@aws-sdk/client-s3'
import { type UploadKey, FileServiceError, uploadTakenOver } from '@holdfast/core'
import { translating } from '../errors/s3-errors.ts'
import { listObjects, type ListedObject } from '../list/list-objects.ts'
import { readBlob } from '../read/read-blob.ts'
import type { Part } from '../write/gather-parts.ts'
import { checksum } from '../write/object-write.ts'
import type { UploadObjects } from './upload-keys.ts'
import { isUnchanged, type StoredRecord } from './upload-records.ts'

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
      throw new FileServiceError('store-unavailable', 'The store has lost a part of an upload')
    }
    yield* part.content
  }
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
