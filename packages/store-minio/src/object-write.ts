import { HeadObjectCommand, type S3Client } from '@aws-sdk/client-s3'
import { FileServiceError } from '@holdfast/core'
import type { BufferBudget } from './part-buffers.ts'
import { failureOf, isAnswer } from './s3-errors.ts'

/** An object to be written. */
export interface ObjectWrite {
  readonly s3: S3Client
  readonly bucket: string
  readonly key: string
  /** Fail with `already-exists` instead of replacing what is there. */
  readonly createOnly: boolean
  /** Kept with the object, to know it again; no two writes have the same. */
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

/** The metadata by which an object tells the write that made it. */
export function metadataOf({ mark }: ObjectWrite): Record<string, string> {
  return { [markName]: mark }
}

const markName = 'holdfast-upload'

/** The checksum by which the store notices that bytes were damaged on the way, as S3 has it: big-endian in base64. */
export function checksum(crc32: number): string {
  const value = Buffer.alloc(4)
  value.writeUInt32BE(crc32)
  return value.toString('base64')
}

/**
 * Runs `request`, which makes the object visible and resolves to its entity tag; resolves to that. An answer may get
 * lost: then the client asks again, and the second answer says that the name is taken, or the upload gone, by
 * ourselves. The mark tells.
 */
export async function publish(
  write: ObjectWrite,
  request: () => Promise<string | undefined>,
): Promise<string> {
  const etag = await request().catch((error: unknown) => recognise(write, error))
  return etag ?? ''
}

async function recognise(
  { s3, bucket, key, mark }: ObjectWrite,
  error: unknown,
): Promise<string | undefined> {
  const isTaken = isAnswer(error, 'PreconditionFailed')
  if (!isTaken && !isAnswer(error, 'NoSuchUpload')) throw error
  const head = new HeadObjectCommand({ Bucket: bucket, Key: key })
  const found = await s3.send(head).catch((failure: unknown) => {
    // Only an answer tells whose the object is.
    if (failureOf(failure).status !== 404) throw failure
  })
  if (found?.Metadata?.[markName] === mark) return found.ETag
  if (!isTaken) throw error
  throw new FileServiceError('already-exists', 'The name is taken', { cause: error })
}
