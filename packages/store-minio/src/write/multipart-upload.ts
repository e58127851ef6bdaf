import {
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  UploadPartCommand,
  type CompletedPart,
} from '@aws-sdk/client-s3'
import { translating } from '../http/s3-errors.ts'
import type { Part } from './gather-parts.ts'
import {
  abortMultipart,
  insistOnUpload,
  checksum,
  metadataOf,
  type ObjectWrite,
  type WrittenObject,
  publishObject,
} from './object-write.ts'

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
