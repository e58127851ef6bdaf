import { HeadBucketCommand, HeadObjectCommand } from '@aws-sdk/client-s3'
import type { BlobInfo } from '@holdfast/core'
import type { ObjectRead } from './read-blob.ts'
import { failureOf, translateError, translating } from './s3-errors.ts'

/** What is known of the object; `undefined` if there is none. */
export async function statObject({
  s3,
  bucket,
  key,
  name,
}: ObjectRead): Promise<BlobInfo | undefined> {
  try {
    return blobInfo(name, await s3.send(new HeadObjectCommand({ Bucket: bucket, Key: key })))
  } catch (error) {
    if (failureOf(error).status !== 404) throw translateError(error)
    // The answer to HEAD has no body that would tell a missing object from a missing bucket.
    await translating(s3.send(new HeadBucketCommand({ Bucket: bucket })).catch(missingBucket))
    return undefined
  }
}

/** What S3 tells of an object with HEAD and GET. */
interface ObjectHeaders {
  readonly ContentLength?: number | undefined
  readonly LastModified?: Date | undefined
  readonly ETag?: string | undefined
}

/** What the port tells of a blob called `name` whose object has these headers. */
export function blobInfo(
  name: string,
  {
    ContentLength: size = 0,
    LastModified: modifiedAt = new Date(0),
    ETag: etag = '',
  }: ObjectHeaders,
): BlobInfo {
  return { name, size, modifiedAt, etag: etag.replaceAll('"', '') }
}

function missingBucket(error: unknown): never {
  if (error instanceof Error && failureOf(error).status === 404) error.name = 'NoSuchBucket'
  throw error
}
