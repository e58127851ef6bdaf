import { randomUUID } from 'node:crypto'
import {
  AbortMultipartUploadCommand,
  DeleteObjectCommand,
  ListObjectsV2Command,
  type S3Client,
} from '@aws-sdk/client-s3'
import type { StoreClient } from '../http/s3-client.ts'
import { isAnswer } from '../http/s3-errors.ts'
import { keyDecoder } from '../keys/object-keys.ts'
import { listUploads } from '../list/list-objects.ts'
import type { OwnObjects } from '../write/own-objects.ts'

/** Objects that belong to no customer, for tests of a bucket. */
export interface TrialObjects {
  readonly s3: S3Client
  readonly bucket: string
  /** The keys of an object and of a multipart object. No customer has them: customers' keys have a folder. */
  readonly key: string
  readonly largeKey: string
  /** Keys that a server may confuse with others. */
  readonly oddKeys: OddKeys
  /** Records a version that `remove` must delete, in a bucket that keeps versions. */
  readonly made: (key: string, versionId: string | undefined) => void
  /** Records an upload to `largeKey`. A server need not list it, and lists a thousand at a time. */
  readonly uploadStarted: (uploadId: string | undefined) => void
  /** Removes the objects and all their versions, as far as the access key may. */
  remove(): Promise<void>
}

export interface OddKeys {
  /** Has characters that a URL escapes, as many names have. */
  readonly escaped: string
  /** Has characters that XML cannot have, as few names have. */
  readonly notInXml: string
  /** Differs only in Unicode normalisation and case, and has no object. */
  readonly twins: readonly string[]
}

function oddKeysBelow(key: string): OddKeys {
  const escaped = `${key}-caf\u00e9 100%41+`
  const twins = [`${key}-cafe\u0301 100%41+`, `${key}-CAF\u00c9 100%41+`]
  return { escaped, notInXml: `${key}-\u0001\uffff`, twins }
}

/** Milliseconds after which trial objects are left-overs. */
const hour = 60 * 60 * 1000

const mark = '.holdfast-trial-'

/** Makes new keys below `prefix`; there is no object yet. */
export function createTrialObjects(s3: S3Client, bucket: string, prefix: string): TrialObjects {
  const key = `${prefix}${mark}${randomUUID()}`
  const largeKey = `${key}-large`
  const oddKeys = oddKeysBelow(key)
  const keys = [key, largeKey, oddKeys.escaped, oddKeys.notInXml]
  const unversioned = new Set<string>()
  const uploads: string[] = []
  const versions: { readonly Key: string; readonly VersionId: string }[] = []
  const remove = async (objectRef: { readonly Key: string; readonly VersionId?: string }) => {
    await s3.send(new DeleteObjectCommand({ Bucket: bucket, ...objectRef })).catch(() => {})
  }
  return {
    s3,
    bucket,
    key,
    largeKey,
    oddKeys,
    made(Key, VersionId) {
      if (VersionId === undefined) unversioned.add(Key)
      else versions.push({ Key, VersionId })
    },
    uploadStarted(uploadId) {
      if (uploadId !== undefined) uploads.push(uploadId)
    },
    async remove() {
      for (const version of versions) await remove(version)
      // With versions, another delete would leave another delete marker.
      for (const Key of versions.length === 0 ? keys : unversioned) await remove({ Key })
      if (versions.length === 0) {
        // The server may have changed odd keys.
        await removeOldTrialObjects(s3, bucket, key, { now: Infinity, begin: '' })
      }
      for (const UploadId of uploads) {
        const upload = { Bucket: bucket, Key: largeKey, UploadId }
        // Most of these uploads have ended.
        await s3.send(new AbortMultipartUploadCommand(upload)).catch(() => {})
      }
    },
  }
}

/** Removes what trials that were killed more than an hour before `now` have left below `prefix`. Never throws. */
export async function removeOldTrials(
  s3: S3Client,
  bucket: string,
  prefix: string,
  now = Date.now(),
): Promise<void> {
  await removeOldTrialObjects(s3, bucket, prefix, { now })
  await abortOldUploads(s3, bucket, prefix + mark, now)
}

interface TrialSweep {
  /** Milliseconds since 1970. Default: now. */
  readonly now?: number
  /** What the keys have after the prefix. Default: what those of trials have. */
  readonly begin?: string
  /** Removes the objects with their versions. Default: versions stay in a bucket that keeps them. */
  readonly own?: OwnObjects
}

/** The same for trials without multipart uploads. */
export async function removeOldTrialObjects(
  s3: S3Client,
  bucket: string,
  prefix: string,
  { now = Date.now(), begin = mark, own }: TrialSweep = {},
): Promise<void> {
  try {
    // What lies deeper is a customer's, whose name may begin so.
    const listing = { Bucket: bucket, Prefix: prefix + begin, Delimiter: '/' }
    const page = await s3.send(new ListObjectsV2Command({ ...listing, EncodingType: 'url' }))
    const decode = keyDecoder(page.EncodingType)
    const old = (page.Contents ?? []).filter(({ LastModified }) => isOld(LastModified, now))
    const keys = old.map(({ Key = '' }) => decode(Key))
    if (own) return await own.remove(keys)
    for (const Key of keys) await s3.send(new DeleteObjectCommand({ Bucket: bucket, Key }))
  } catch {
    // The steps that need a missing permission report it.
  }
}

function isOld(at: Date | undefined, now: number): boolean {
  return at !== undefined && now - at.getTime() > hour
}

/** Aborts uploads to keys that begin with `begin` if they are more than an hour older than `now`. Never throws. */
async function abortOldUploads(
  s3: S3Client,
  bucket: string,
  begin: string,
  now: number,
): Promise<void> {
  try {
    // Without a prefix: MinIO takes one for a whole key.
    const { Uploads = [] } = await listUploads(s3, { Bucket: bucket })
    for (const { Key = '', UploadId, Initiated } of Uploads) {
      const isTrial = Key.startsWith(begin) && !Key.includes('/', begin.length)
      if (!isTrial || !isOld(Initiated, now)) continue
      await s3.send(new AbortMultipartUploadCommand({ Bucket: bucket, Key, UploadId }))
    }
  } catch {
    // The server itself removes abandoned uploads.
  }
}

/** The object of a trial, and its version. */
interface TrialObjectRef {
  readonly Bucket: string
  readonly Key: string
  readonly VersionId: string | undefined
}

/** Deletes the object with its version. */
export async function deleteTrialObject(
  s3: S3Client,
  { VersionId, ...objectRef }: TrialObjectRef,
  options?: { readonly abortSignal: AbortSignal },
): Promise<void> {
  try {
    await s3.send(new DeleteObjectCommand({ ...objectRef, VersionId }), options)
  } catch (error) {
    // Without the right to delete versions the version stays, with a delete marker, as those of customers' files do.
    if (VersionId === undefined || !isAnswer(error, 'AccessDenied')) throw error
    await s3.send(new DeleteObjectCommand(objectRef), options)
  }
}

/** What a store needs to try the server at its start. */
export interface ServerTrial {
  readonly client: StoreClient
  readonly bucket: string
  readonly prefix: string
  readonly log: { warn(message: string): void }
}

/** Milliseconds after which a server without an answer must not delay the opening any longer. */
export const patience = 15_000
