import { PutObjectCommand } from '@aws-sdk/client-s3'
import { abortable } from '@holdfast/core'
import { translating } from '../http/s3-errors.ts'
import { gatherParts, type Part } from './gather-parts.ts'
import { sendInParts } from './multipart-upload.ts'
import {
  checksum,
  metadataOf,
  type ObjectWrite,
  type WrittenObject,
  publishObject,
  type WriteCondition,
} from './object-write.ts'
import { createPartBuffers, maxPartMemory, partSize } from './part-buffers.ts'

/**
 * Makes `content` the object in one step, once it has ended: in one request if it fits into a part, otherwise in several parts. Rejects
 * with the original error of `content` or `signal`. Chunks go to `release` once they are copied.
 *
 * @throws FileServiceError `already-exists`, `file-too-large`, `insufficient-storage`, `store-unavailable`
 */
export async function putObject(
  write: ObjectWrite,
  content: AsyncIterable<Uint8Array>,
  signal: AbortSignal | undefined,
  release?: (chunk: Uint8Array) => void,
): Promise<WrittenObject> {
  signal?.throwIfAborted()
  // Ends the content, even if it is stalled, when a part cannot be sent.
  const failure = new AbortController()
  const stop = signal ? AbortSignal.any([signal, failure.signal]) : failure.signal
  const buffers = createPartBuffers(write.budget, maxPartMemory)
  const parts = gatherParts(abortable(content, stop), buffers, partSize, release)
  try {
    const { value: first } = await parts.next()
    if (!first) throw new Error('There is always a first part')
    if (!first.isLast) return await sendInParts(write, first, parts, failure, stop)
    return await sendAtOnce(write, first, stop)
  } finally {
    await parts.return(undefined)
  }
}

async function sendAtOnce(
  write: ObjectWrite,
  { bytes, crc32, release }: Part,
  stop: AbortSignal,
): Promise<WrittenObject> {
  const { changing, bucket, key } = write
  const request = async (condition: WriteCondition) => {
    const command = new PutObjectCommand({
      Bucket: bucket,
      Key: key,
      Body: bytes,
      ContentLength: bytes.length,
      ChecksumCRC32: checksum(crc32),
      Metadata: metadataOf(write),
      ...condition,
    })
    return (await changing.send(command)).ETag
  }
  try {
    stop.throwIfAborted()
    const etag = await translating(publishObject(write, request, { stop }))
    return { size: bytes.length, etag }
  } finally {
    release()
  }
}
