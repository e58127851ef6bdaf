import { hash } from 'node:crypto'
import { FileServiceError, nameTaken } from '@holdfast/core'
import {
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  ListPartsCommand,
  UploadPartCommand,
  UploadPartCopyCommand,
  type CompletedPart,
  type ListPartsCommandOutput,
} from '@aws-sdk/client-s3'
import { escapeUri } from '../http/get-client.ts'
import { lengthUnknown, translating, isAnswer, translateError } from '../http/s3-errors.ts'
import type { ObjectRef } from '../keys/object-keys.ts'
import { findObject, isSameObject, type FoundVersion } from '../read/stat-object.ts'
import {
  type ObjectWrite,
  type WrittenObject,
  abortMultipart,
  insistOnUpload,
  metadataOf,
  publishObject,
} from './object-write.ts'
import { type Companions, removeIf } from './removals.ts'

/** The most objects that may be found under the earlier key, one after the other, before a rename gives up. */
const mostAttempts = 8

/** What a rename needs beside its objects. */
interface RenamePlan {
  readonly companions?: Pick<Companions, 'hold'> | undefined
  /** Removes a version that is not the current one any more. Never rejects. Default: it stays. */
  readonly removeVersion?: ((key: string, version: string) => Promise<void>) | undefined
}

/**
 * Has the server copy the object `source` to the key of `write`, and then removes the source, unless another object is there by then.
 * Resolves with `undefined` if there is no object. Others who remove or rename the source in this process must wait until it ends.
 * In a bucket that keeps versions, `removeVersion` then removes the version that was copied: it was not deleted, but has another name.
 *
 * @throws FileServiceError `already-exists`, `insufficient-storage`, `store-unavailable`
 */
export async function renameObject(
  source: ObjectRef,
  write: ObjectWrite,
  { companions, removeVersion }: RenamePlan = {},
): Promise<WrittenObject | undefined> {
  for (let attempt = 0; attempt < mostAttempts; attempt++) {
    const found = await translating(findObject(source))
    if (found === undefined) return undefined
    // Checked before all is copied in vain; the server decides at the end.
    if (write.createOnly && (await translating(findObject(write)))) throw nameTaken()
    const { size, etag } = found
    if (size === undefined) throw lengthUnknown()
    const copied = await copyObject({ key: source.key, size, etag }, write)
    if (copied === undefined) continue
    const { changing, removals } = write
    const isCopied = (object: FoundVersion) => isSameObject(object, found)
    const removal = { changing, removals, companions }
    const isRemoved = await translating(removeIf(source, isCopied, removal))
    if (isRemoved) await removeVersion?.(source.key, found.version ?? 'null')
    return copied
  }
  throw new FileServiceError('store-unavailable', 'The file changes all the time')
}

/** What is copied. */
interface CopySource extends Omit<CopiedPart, 'range'> {
  /** In bytes. */
  readonly size: number
}

/**
 * Has the server copy an object, or a version, to the key of `write`. Resolves with `undefined` if the source is another one by now, or
 * gone.
 *
 * @throws FileServiceError `already-exists`, `insufficient-storage`, `store-unavailable`
 */
export async function copyObject(
  { size, ...source }: CopySource,
  write: ObjectWrite,
): Promise<WrittenObject | undefined> {
  const parts = partsOf(size).map((range): CopiedPart => ({ ...source, range }))
  try {
    const joined = await joinParts(write, parts)
    try {
      const end = () => completeJoined(write, joined)
      const stop = new AbortController().signal
      const written = await publishObject(write, end, { stop, isDoneOnce: true })
      return { size, etag: written }
    } catch (error) {
      await abortMultipart(write, joined.multipartId)
      throw error
    } finally {
      write.underWay.delete(joined.multipartId)
    }
  } catch (error) {
    if (isAnswer(error, 'PreconditionFailed', 'NoSuchKey', 'NoSuchVersion')) return undefined
    throw translateError(error)
  }
}

/** Bytes of a part: small enough to be copied while the connection waits for the answer. S3 allows 10,000 parts. */
const usualPart = 256 * 1024 * 1024
const mostParts = 10_000

/** The first and the last byte of each part of an object; none of an empty one. */
export function partsOf(size: number, partSize = usualPart): (readonly [number, number])[] {
  const step = Math.max(partSize, Math.ceil(size / mostParts))
  const firsts = Array.from({ length: Math.ceil(size / step) }, (_, index) => index * step)
  return firsts.map((first) => [first, Math.min(size, first + step) - 1])
}

/** A multipart upload that has all its parts and needs only to be completed. */
export interface JoinedParts {
  readonly multipartId: string
  readonly parts: readonly CompletedPart[]
}

/** An object, or a part of one, that the server copies. */
interface CopiedPart {
  readonly key: string
  /** In a bucket that keeps versions. Default: the current object. */
  readonly version?: string | undefined
  /** The positions of the first and the last byte. Default: the whole object. */
  readonly range?: readonly [first: number, last: number]
  /** The entity tag that the object must have, in quotes. Default: any. */
  readonly etag?: string
}

/** How many parts the server copies at once. */
const copiesAtOnce = 4

/** Begins a multipart upload and lets the server copy these `sources` into it, in this order. */
export async function joinParts(
  write: ObjectWrite,
  sources: readonly CopiedPart[],
): Promise<JoinedParts> {
  const { s3, bucket, key, underWay } = write
  const objectRef = { Bucket: bucket, Key: key }
  const beginning = new CreateMultipartUploadCommand({ ...objectRef, Metadata: metadataOf(write) })
  const { UploadId: multipartId = '' } = await translating(s3.send(beginning))
  underWay.add(multipartId)
  try {
    const etags = await copyAll(write, multipartId, sources)
    const parts = etags.map((ETag, index) => ({ PartNumber: index + 1, ETag }))
    return { multipartId, parts }
  } catch (error) {
    await abortMultipart(write, multipartId)
    underWay.delete(multipartId)
    throw error
  }
}

async function copyAll(
  write: ObjectWrite,
  multipartId: string,
  sources: readonly CopiedPart[],
): Promise<string[]> {
  if (sources.length === 0) return [await putEmptyPart(write, multipartId)]
  const etags: string[] = []
  let next = 0
  const work = async () => {
    for (let index = next++; index < sources.length; index = next++) {
      const source = sources[index]
      if (source) etags[index] = await copyPart(write, multipartId, index + 1, source)
    }
  }
  const workers = await Promise.allSettled(Array.from({ length: copiesAtOnce }, work))
  for (const worker of workers) if (worker.status === 'rejected') throw worker.reason
  return etags
}

async function copyPart(
  { s3, bucket, key }: ObjectWrite,
  multipartId: string,
  number: number,
  { key: source, version, range, etag }: CopiedPart,
): Promise<string> {
  const path = [bucket, ...source.split('/')].map(escapeUri).join('/')
  const command = new UploadPartCopyCommand({
    ...{ Bucket: bucket, Key: key, UploadId: multipartId, PartNumber: number },
    CopySource: version === undefined ? path : `${path}?versionId=${escapeUri(version)}`,
    ...(range && { CopySourceRange: `bytes=${range.join('-')}` }),
    ...(etag !== undefined && { CopySourceIfMatch: etag }),
  })
  const { CopyPartResult: copied } = await insistOnUpload(() => s3.send(command))
  return copied?.ETag ?? ''
}

/** S3 makes no object without parts. */
async function putEmptyPart(
  { s3, bucket, key }: ObjectWrite,
  multipartId: string,
): Promise<string> {
  const command = new UploadPartCommand({
    ...{ Bucket: bucket, Key: key, UploadId: multipartId, PartNumber: 1 },
    ...{ Body: Buffer.alloc(0), ContentLength: 0 },
  })
  const { ETag = '' } = await insistOnUpload(() => s3.send(command))
  return ETag
}

/** Completes the multipart upload; resolves with the object's entity tag. */
export async function completeJoined(
  { changing, bucket, key, createOnly }: ObjectWrite,
  { multipartId, parts }: JoinedParts,
): Promise<string | undefined> {
  const command = new CompleteMultipartUploadCommand({
    ...{ Bucket: bucket, Key: key, UploadId: multipartId },
    MultipartUpload: { Parts: [...parts] },
    ...(createOnly && { IfNoneMatch: '*' }),
  })
  return (await changing.send(command)).ETag
}

/** The parts of a multipart upload; `undefined` if it certainly does not exist, since it was completed or aborted. */
export async function findJoined(
  write: ObjectWrite,
  multipartId: string,
): Promise<JoinedParts | undefined> {
  try {
    return await insistOnUpload(() => listJoined(write, multipartId))
  } catch (error) {
    if (isAnswer(error, 'NoSuchUpload')) return undefined
    throw error
  }
}

/** The same, but believes the first node that says that there is none. Rejects with the client's error. */
export async function listJoined(
  { s3, bucket, key }: ObjectWrite,
  multipartId: string,
): Promise<JoinedParts> {
  const parts: CompletedPart[] = []
  let marker: string | undefined
  do {
    const command = new ListPartsCommand({
      ...{ Bucket: bucket, Key: key, UploadId: multipartId },
      ...(marker !== undefined && { PartNumberMarker: marker }),
    })
    const page: ListPartsCommandOutput = await s3.send(command)
    for (const { PartNumber, ETag } of page.Parts ?? []) parts.push({ PartNumber, ETag })
    marker = page.IsTruncated === true ? page.NextPartNumberMarker : undefined
  } while (marker !== undefined)
  return { multipartId, parts }
}

/** The entity tag that S3 gives an object of these parts, without quotes; empty if the parts' tags are no MD5. */
export function joinedTag({ parts }: JoinedParts): string {
  const tags = parts.map(({ ETag = '' }) => ETag.replaceAll('"', ''))
  if (!tags.every((tag) => /^[0-9a-f]{32}$/.test(tag))) return ''
  return `${hash('md5', Buffer.from(tags.join(''), 'hex'))}-${tags.length}`
}
