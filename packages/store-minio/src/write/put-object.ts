import {
  PutObjectCommand,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  UploadPartCommand,
  type CompletedPart,
} from '@aws-sdk/client-s3'
import { abortable } from '@holdfast/core'
import { translating } from '../http/s3-errors.ts'
import { gatherParts, type Part, createPartBuffers, maxPartMemory, partSize } from './parts.ts'
import {
  checksum,
  metadataOf,
  type ObjectWrite,
  type WrittenObject,
  publishObject,
  type WriteCondition,
  abortMultipart,
  insistOnUpload,
} from './object-write.ts'

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

/**
 * Sends parts as they come, several at a time, and makes the object when all have arrived. It never uses parts of another upload to the
 * same key. When a part fails, it aborts `failure` with the reason, which must end `rest`. Whenever anything fails or `stop` aborts, it
 * aborts the upload before it throws the error.
 */
export async function sendInParts(
  write: ObjectWrite,
  first: Part,
  rest: AsyncIterable<Part>,
  failure: AbortController,
  stop: AbortSignal,
): Promise<WrittenObject> {
  const upload = await begin(write, first)
  const sent: Promise<CompletedPart>[] = []
  let size = 0
  const send = (part: Part) => {
    size += part.bytes.length
    const sending = sendPart(write, upload, part, stop)
    sending.catch((error: unknown) => failure.abort(error))
    sent.push(sending)
  }
  try {
    send(first)
    for await (const part of rest) send(part)
    const parts = await Promise.all(sent)
    stop.throwIfAborted()
    const end = () => complete(write, upload, parts)
    // The server completes an upload once: for a second request it does not exist any more.
    const etag = await translating(publishObject(write, end, { stop, isDoneOnce: true }))
    return { size, etag }
  } catch (error) {
    failure.abort(error)
    // The server may keep a part that arrives while the upload is aborted.
    await Promise.allSettled(sent)
    await abortMultipart(write, upload)
    // `stop` has the first error: the requests that it aborted reject with errors of their own.
    throw stop.reason
  } finally {
    write.underWay.delete(upload)
  }
}

async function begin(write: ObjectWrite, { release }: Part): Promise<string> {
  const { s3, bucket, key, underWay } = write
  const command = new CreateMultipartUploadCommand({
    Bucket: bucket,
    Key: key,
    ChecksumAlgorithm: 'CRC32',
    Metadata: metadataOf(write),
  })
  try {
    const { UploadId: upload = '' } = await translating(s3.send(command))
    underWay.add(upload)
    return upload
  } catch (error) {
    release()
    throw error
  }
}

async function sendPart(
  { s3, bucket, key }: ObjectWrite,
  upload: string,
  { number, bytes, crc32, release }: Part,
  stop: AbortSignal,
): Promise<CompletedPart> {
  const sum = checksum(crc32)
  const command = new UploadPartCommand({
    Bucket: bucket,
    Key: key,
    UploadId: upload,
    PartNumber: number,
    Body: bytes,
    ContentLength: bytes.length,
    ChecksumCRC32: sum,
  })
  try {
    const { ETag: etag } = await translating(
      insistOnUpload(() => s3.send(command, { abortSignal: stop }), stop),
    )
    return { PartNumber: number, ETag: etag, ChecksumCRC32: sum }
  } finally {
    release()
  }
}

async function complete(
  { changing, bucket, key, createOnly }: ObjectWrite,
  upload: string,
  parts: CompletedPart[],
): Promise<string | undefined> {
  const command = new CompleteMultipartUploadCommand({
    Bucket: bucket,
    Key: key,
    UploadId: upload,
    MultipartUpload: { Parts: parts },
    // Only here the server decides which upload is first.
    ...(createOnly && { IfNoneMatch: '*' }),
  })
  return (await changing.send(command)).ETag
}
