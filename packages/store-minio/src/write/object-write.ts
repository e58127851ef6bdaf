import { setTimeout as delay } from 'node:timers/promises'
import { type S3Client, AbortMultipartUploadCommand } from '@aws-sdk/client-s3'
import type { BlobInfo } from '@holdfast/core'
import type { ObjectRef } from '../keys/object-keys.ts'
import { pausesForUpload } from '../errors/retry-strategy.ts'
import { isAnswer } from '../errors/s3-errors.ts'
import { markName } from './find-object.ts'
import type { BufferBudget } from './part-buffers.ts'
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
