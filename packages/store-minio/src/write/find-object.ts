import { HeadObjectCommand } from '@aws-sdk/client-s3'
import type { ObjectRef } from '../keys/object-keys.ts'
import { failureOf } from '../errors/s3-errors.ts'
import { sureOfAbsence } from '../read/stat-object.ts'

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
