import { HeadObjectCommand } from '@aws-sdk/client-s3'
import type { BlobInfo } from '@holdfast/core'
import type { ObjectRead } from './get-object.ts'
import { blobInfo } from '../keys/blob-info.ts'
import { failureOf, lengthUnknown, translateError } from '../errors/s3-errors.ts'
import { sureOfAbsence } from './sure-of-absence.ts'

/** What is known of the object; `undefined` if there is none. */
export function statObject(object: ObjectRead): Promise<BlobInfo | undefined> {
  return sureOfAbsence(object, () => head(object))
}

async function head({ s3, bucket, key, name }: ObjectRead): Promise<BlobInfo | undefined> {
  try {
    const found = await s3.send(new HeadObjectCommand({ Bucket: bucket, Key: key }))
    const { ContentLength: size, LastModified: modifiedAt = new Date(0), ETag: etag = '' } = found
    if (size === undefined) throw lengthUnknown()
    return blobInfo(name, { size, modifiedAt, etag })
  } catch (error) {
    if (failureOf(error).status === 404) return undefined
    throw translateError(error)
  }
}
