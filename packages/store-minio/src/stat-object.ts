import { HeadBucketCommand, HeadObjectCommand } from '@aws-sdk/client-s3'
import type { BlobInfo } from '@holdfast/core'
import type { ObjectRead } from './get-object.ts'
import { failureOf, lengthUnknown, translateError, translating } from './s3-errors.ts'

/** What is known of the object; `undefined` if there is none. */
export async function statObject({
  s3,
  bucket,
  key,
  name,
}: ObjectRead): Promise<BlobInfo | undefined> {
  try {
    const head = await s3.send(new HeadObjectCommand({ Bucket: bucket, Key: key }))
    const { ContentLength: size, LastModified: modifiedAt = new Date(0), ETag: etag = '' } = head
    if (size === undefined) throw lengthUnknown()
    return blobInfo(name, { size, modifiedAt, etag })
  } catch (error) {
    if (failureOf(error).status !== 404) throw translateError(error)
    // The answer to HEAD has no body that would tell a missing object from a missing bucket.
    await translating(s3.send(new HeadBucketCommand({ Bucket: bucket })).catch(missingBucket))
    return undefined
  }
}

/** What the port tells of a blob called `name` whose object is so; the tag is in quotes. */
export function blobInfo(
  name: string,
  { size, modifiedAt, etag }: Pick<BlobInfo, 'size' | 'modifiedAt' | 'etag'>,
): BlobInfo {
  return { name, size, modifiedAt, etag: etag.replaceAll('"', '') }
}

function missingBucket(error: unknown): never {
  if (error instanceof Error && failureOf(error).status === 404) error.name = 'NoSuchBucket'
  throw error
}
