import { setTimeout as delay } from 'node:timers/promises'
import { HeadObjectCommand } from '@aws-sdk/client-s3'
import { type BlobInfo, FileServiceError } from '@holdfast/core'
import { failureOf, lengthUnknown, translateError } from '../http/s3-errors.ts'
import { blobInfo, type ObjectRef } from '../keys/object-keys.ts'
import { listObjects, versionsOfKey } from '../list/list-objects.ts'
import type { ObjectRead } from './get-object.ts'

/** The details of the object; `undefined` if there is none. */
export function statObject(object: ObjectRead): Promise<BlobInfo | undefined> {
  return sureOfAbsence(object, () => head(object))
}

async function head({ s3, bucket, key, version, name }: ObjectRead): Promise<BlobInfo | undefined> {
  try {
    const command = new HeadObjectCommand({ Bucket: bucket, Key: key, VersionId: version })
    const found = await s3.send(command)
    const { ContentLength: size, LastModified: modifiedAt = new Date(0), ETag: etag = '' } = found
    if (size === undefined) throw lengthUnknown()
    return blobInfo(name, { size, modifiedAt, etag })
  } catch (error) {
    if (failureOf(error).status === 404) return undefined
    throw translateError(error)
  }
}

/** Milliseconds before each attempt. */
const pauses = [0, 100, 300, 1000, 2000]

/**
 * The result of `ask`; `undefined` only if the listing does not have the object either. A node of a MinIO cluster that has just come back
 * may report an existing object as missing, and the response to HEAD is the same for a missing bucket: neither proves that the file does
 * not exist.
 *
 * @throws FileServiceError `store-unavailable` if the store keeps listing what it does not find
 */
export async function sureOfAbsence<T>(
  object: SoughtObject,
  ask: () => Promise<T | undefined>,
): Promise<T | undefined> {
  for (const pause of pauses) {
    // A timer takes a millisecond, however short it is.
    if (pause > 0) await delay(pause)
    const found = await ask()
    if (found !== undefined || !(await isListed(object))) return found
  }
  throw new FileServiceError('store-unavailable', 'The store lists an object that it does not find')
}

type SoughtObject = ObjectRef & Pick<ObjectRead, 'version'>

async function isListed({ s3, bucket, key, version }: SoughtObject): Promise<boolean> {
  if (version !== undefined) return isVersionListed({ s3, bucket, key }, version)
  // The key itself comes before all longer keys that begin with it.
  for await (const { objects } of listObjects({ s3, bucket, prefix: key, pageSize: 1 })) {
    return objects[0]?.key === key
  }
  return false
}

async function isVersionListed(objectRef: ObjectRef, version: string): Promise<boolean> {
  for await (const versions of versionsOfKey(objectRef)) {
    if (versions.some((listed) => listed.version === version)) return true
  }
  return false
}

/** The object under a key, at one moment. */
export interface FoundVersion {
  /** The mark of the write that made it; `undefined` for an object that this service did not write. */
  readonly mark: string | undefined
  /** In quotes. */
  readonly etag: string
  /** Its version, in a bucket that keeps versions; `undefined` for an object that is older than that setting. */
  readonly version: string | undefined
  readonly modifiedAt: number
  /** In bytes; `undefined` if the server does not say it. */
  readonly size: number | undefined
}

/** The name of the metadata that identifies the write of an object. */
export const markName = 'holdfast-upload'

/** The current object; `undefined` if there certainly is none. Rejects with the client's error. */
export function findObject(objectRef: ObjectRef): Promise<FoundVersion | undefined> {
  return sureOfAbsence(objectRef, () => headObject(objectRef))
}

/** Whether both are the same object, not only of the same content. */
export function isSameObject(a: FoundVersion | undefined, b: FoundVersion | undefined): boolean {
  return a?.mark === b?.mark && a?.etag === b?.etag && a?.modifiedAt === b?.modifiedAt
}

/** Same as `findObject`, in one request: believes the first node that says that there is none. */
export async function headObject({
  s3,
  bucket,
  key,
}: ObjectRef): Promise<FoundVersion | undefined> {
  try {
    const found = await s3.send(new HeadObjectCommand({ Bucket: bucket, Key: key }))
    return {
      mark: found.Metadata?.[markName],
      etag: found.ETag ?? '',
      version: found.VersionId,
      modifiedAt: found.LastModified?.getTime() ?? 0,
      size: found.ContentLength,
    }
  } catch (error) {
    // Only an answer can prove that there is none.
    if (failureOf(error).status === 404) return undefined
    throw error
  }
}
