import { ListObjectsV2Command, PutObjectCommand, type S3Client } from '@aws-sdk/client-s3'
import { StoreSettingError } from '../errors/store-setting-error.ts'
import { keyDecoder } from '../keys/object-keys.ts'
import { deleteTrialObject } from './delete-trial-object.ts'
import { patience, type ServerTrial } from './server-trial.ts'
import { createTrialObjects, type TrialObjects } from './trial-objects.ts'

/** What is wrong with a server whose lists have other keys than it was given, as a sentence without an end. */
export const misnames =
  'the server lists files under other names than their own where those have a percent sign, a plus or a space'

/** The keys in the bucket that begin with the trial's, as lists of the store have them. */
export async function listedKeys(
  { s3, bucket, key }: Pick<TrialObjects, 's3' | 'bucket' | 'key'>,
  options?: { readonly abortSignal: AbortSignal },
): Promise<readonly string[]> {
  const request = { Bucket: bucket, Prefix: key, EncodingType: 'url' } as const
  const page = await s3.send(new ListObjectsV2Command(request), options)
  const decode = keyDecoder(page.EncodingType)
  return (page.Contents ?? []).map(({ Key = '' }) => decode(Key))
}

/**
 * Makes sure that lists have the keys that were given: some servers say that theirs are encoded as in URLs, and encode none,
 * or not all that has a meaning there. What cannot be tried is passed over; uploads and lists fail by themselves then.
 *
 * @throws StoreSettingError
 */
export async function checkListedNames({ client, bucket, prefix }: ServerTrial): Promise<void> {
  const { s3 } = client
  const { key } = createTrialObjects(s3, bucket, prefix)
  const oddKey = `${key}-a b+%41`
  const found = await listOne(s3, { bucket, key, oddKey }).catch(() => undefined)
  const listed = (found ?? []).filter((each) => each.startsWith(key))
  // A list may come too early to have it.
  if (listed.length === 0 || listed.includes(oddKey)) return
  throw new StoreSettingError('endpoint', misnames, ['use another S3 server'])
}

interface OddObject {
  readonly bucket: string
  /** What `oddKey` begins with, and no other key. */
  readonly key: string
  readonly oddKey: string
}

/** Puts the object, lists it, and removes it. */
async function listOne(
  s3: S3Client,
  { bucket, key, oddKey }: OddObject,
): Promise<readonly string[]> {
  const until = { abortSignal: AbortSignal.timeout(patience) }
  const place = { Bucket: bucket, Key: oddKey }
  const command = new PutObjectCommand({ ...place, Body: 'x', ContentLength: 1 })
  const { VersionId } = await s3.send(command, until)
  try {
    return await listedKeys({ s3, bucket, key }, until)
  } finally {
    // What stays, the sweeps of trials remove.
    await deleteTrialObject(s3, { ...place, VersionId }, until).catch(() => {})
  }
}
