import { setTimeout as delay } from 'node:timers/promises'
import { type S3Client, AbortMultipartUploadCommand } from '@aws-sdk/client-s3'
import { type BlobInfo, FileServiceError, nameTaken } from '@holdfast/core'
import {
  pausesForUpload,
  pauseBeforeRepeating,
  isAnswer,
  isConflict,
  mayBeDone,
} from '../http/s3-errors.ts'
import type { ObjectRef } from '../keys/object-keys.ts'
import {
  markName,
  findObject,
  headObject,
  isSameObject,
  type FoundVersion,
} from '../read/stat-object.ts'
import type { BufferBudget } from './parts.ts'
import type { Removals } from './removals.ts'

/** An object that will be written. */
export interface ObjectWrite extends ObjectRef {
  /** For requests that make or remove an object: does not repeat those that the server may have carried out. */
  readonly changing: S3Client
  /** The removals of this process. */
  readonly removals: Removals
  /** Whether to fail with `already-exists` instead of replacing an object. */
  readonly createOnly: boolean
  /** Stored with the object to identify it; no two writes have the same. */
  readonly mark: string
  readonly budget: BufferBudget
  /** The ids of the multipart uploads of this process, which the sweep spares. */
  readonly underWay: Set<string>
  readonly log: { warn(message: string): void }
}

export interface WrittenObject {
  /** Bytes. */
  readonly size: number
  /** As S3 gives it, in quotes. */
  readonly etag: string
}

/** The metadata that identifies the write that made an object. */
export function metadataOf({ mark }: ObjectWrite): Record<string, string> {
  return { [markName]: mark }
}

/** The checksum by which the store detects damaged bytes, in S3's format: big-endian in base64. */
export function checksum(crc32: number): string {
  const value = Buffer.alloc(4)
  value.writeUInt32BE(crc32)
  return value.toString('base64')
}

/**
 * Describes the written object. Only `found`, the result of a later request, has its time. If that request failed, or found the object of
 * another put, this uses the time of our own clock.
 */
export function describeWritten(
  { size, etag }: WrittenObject,
  name: string,
  found?: BlobInfo,
): BlobInfo {
  const written = { name, size, modifiedAt: new Date(), etag: etag.replaceAll('"', '') }
  return found?.etag === written.etag ? found : written
}

/** Repeats `work` for some seconds while the store says that there is no such multipart upload. */
export async function insistOnUpload<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
  for (const pause of pausesForUpload) {
    try {
      return await work()
    } catch (error) {
      if (!isAnswer(error, 'NoSuchUpload')) throw error
      await delay(pause, undefined, { ...(signal && { signal }) })
    }
  }
  return work()
}

/** Never throws: the caller reports the first error, and the next sweep removes the upload. */
export async function abortMultipart(
  { s3, bucket, key, log }: Pick<ObjectWrite, 's3' | 'bucket' | 'key' | 'log'>,
  upload: string,
): Promise<void> {
  const command = new AbortMultipartUploadCommand({ Bucket: bucket, Key: key, UploadId: upload })
  await s3.send(command).catch((error: unknown) => {
    if (isAnswer(error, 'NoSuchUpload')) return
    log.warn(`An upload that failed could not be removed from the bucket: ${String(error)}`)
  })
}

/** The condition under which a request makes the object. */
export interface WriteCondition {
  readonly IfMatch?: string
  readonly IfNoneMatch?: '*'
}

/** Makes the object visible, and resolves with its entity tag. */
type PublishRequest = (condition: WriteCondition) => Promise<string | undefined>

interface PublishOptions {
  /** Counts only before the first try; afterwards the object may exist. */
  readonly stop: AbortSignal
  /** Whether the server carries out the request once, however often it is sent. Default: each time. */
  readonly isDoneOnce?: boolean
}

/**
 * Runs `request` and resolves with the object's entity tag. If the response is lost, it inspects the object before it repeats the request,
 * so that it does not undo later changes of others. An object with the mark of this write is a success. If the object is the same as
 * before the first try, or still missing, it repeats the request. In all other cases the outcome is unknown.
 *
 * @throws FileServiceError `already-exists`, `store-unavailable`
 */
export async function publishObject(
  write: ObjectWrite,
  request: PublishRequest,
  { stop, isDoneOnce = false }: PublishOptions,
): Promise<string> {
  const removed = await write.removals.watch(write.key)
  try {
    const before = await headObject(write)
    stop.throwIfAborted()
    const isAsBefore = (found: FoundVersion | undefined) =>
      isSameObject(found, before) && (found !== undefined || !removed.seen())
    return await publish(write, request, isDoneOnce, isAsBefore)
  } finally {
    removed.end()
  }
}

async function publish(
  write: ObjectWrite,
  request: PublishRequest,
  isDoneOnce: boolean,
  isAsBefore: (found: FoundVersion | undefined) => boolean,
): Promise<string> {
  let condition: WriteCondition = write.createOnly ? { IfNoneMatch: '*' } : {}
  let isDoubtful = false
  for (let count = 1; ; count++) {
    try {
      return (await request(condition)) ?? ''
    } catch (error) {
      const isTaken = isAnswer(error, 'PreconditionFailed')
      isDoubtful ||= mayBeDone(error)
      const mayBeTaken = isTaken || isConflict(error)
      if (!isDoubtful && !mayBeTaken && !isAnswer(error, 'NoSuchUpload')) throw error
      const found = await findObject(write)
      if (found?.mark === write.mark) return found.etag
      const isUndone = !isDoubtful || isAsBefore(found)
      const isOthers = found !== undefined || (isTaken && !isDoubtful)
      if (write.createOnly && isUndone && isOthers) throw nameTaken(error)
      const mayRepeat = isUndone || (isDoneOnce && !isTaken)
      const pause = mayRepeat ? pauseBeforeRepeating(error, count) : undefined
      if (pause === undefined) throw isUndone ? error : unknownOutcome(error)
      await delay(pause)
      condition = found ? { IfMatch: found.etag } : { IfNoneMatch: '*' }
    }
  }
}

function unknownOutcome(cause: unknown): FileServiceError {
  const message = 'The store did not answer, and others have changed the file since'
  return new FileServiceError('store-unavailable', message, { cause })
}
