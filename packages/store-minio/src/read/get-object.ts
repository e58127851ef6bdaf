import type { Readable } from 'node:stream'
import { GetObjectCommand, type S3Client } from '@aws-sdk/client-s3'
import { LRUCache } from 'lru-cache'
import type { GetClient, GetHeaders } from '../http/get-client.ts'
import {
  type GetAnswer,
  type ResponseHead,
  fromReadable,
  inMemory,
  type StoreBody,
} from '../http/get-exchange.ts'
import { isAnswer, lengthUnknown, translateError } from '../http/s3-errors.ts'

/** An object that will be read. */
export interface ObjectRead {
  readonly s3: S3Client
  readonly gets: GetClient
  readonly kept: KeptObjects
  readonly bucket: string
  readonly key: string
  /** The version to read, in a bucket that keeps versions. Default: the current object. */
  readonly version?: string
  /** The name of the blob in the port. */
  readonly name: string
}

/** An object, or a range of it, whose bytes are arriving. */
export interface FoundObject {
  /** The size of the whole object, in bytes. */
  readonly size: number
  readonly modifiedAt: Date
  /** In quotes. */
  readonly etag: string
  /** The position of the body in the object, in bytes from 0. */
  readonly offset: number
  /** The length of the body, in bytes. */
  readonly length: number
  readonly body: StoreBody
}

/** Bodies of up to so many bytes are read at once: that frees the connection early, and avoids the cost of a stream. */
const wholeUpTo = 64 * 1024

/** `undefined` if there is no such object; `unsatisfiable` if the range selects nothing of it. */
export type GetResult = FoundObject | 'unsatisfiable' | undefined

/** Gets an object by a fast path for success. After any failure it uses the S3 client, which retries and interprets the answers. */
export async function getObject(
  read: ObjectRead,
  headers: GetHeaders,
  signal?: AbortSignal,
): Promise<GetResult> {
  // Versions are read too seldom for a fast path.
  if (read.version !== undefined) return getByClient(read, headers, signal)
  const found = await getShortly(read, headers, signal)
  return found === 'left to the client' ? getByClient(read, headers, signal) : found
}

async function getShortly(
  read: ObjectRead,
  headers: GetHeaders,
  signal: AbortSignal | undefined,
): Promise<GetResult | 'left to the client'> {
  const { gets, kept, bucket, key } = read
  const isWhole = headers.range === undefined
  const known = isWhole ? kept.find(key) : undefined
  try {
    const asked = known ? { 'if-none-match': known.etag } : headers
    const answer = await gets.get(bucket, key, asked, signal)
    const { head } = answer
    if (head.status === 304 && known) {
      await wholeOf(answer)
      if (isUnchanged(known, head)) return foundAgain(known)
      kept.drop(key)
      return await getShortly(read, headers, signal)
    }
    if (head.status === 200 || head.status === 206) {
      const found = await foundBy(answer)
      const { bytes } = found.body
      if (isWhole && bytes) kept.keep(key, { ...found, bytes })
      return found
    }
    const code = await errorCodeOf(answer)
    if (code === 'NoSuchKey') return undefined
    return code === 'InvalidRange' ? 'unsatisfiable' : 'left to the client'
  } catch (error) {
    if (signal?.aborted === true) throw translateError(error)
    return 'left to the client'
  }
}

/** Whether an object that is "not modified" was not rewritten with the same bytes either. */
function isUnchanged({ modifiedAt }: KeptObject, { headers }: ResponseHead): boolean {
  const now = headers.get('last-modified')
  return now === undefined || new Date(now).getTime() === modifiedAt.getTime()
}

function foundAgain({ etag, modifiedAt, bytes }: KeptObject): FoundObject {
  const { length } = bytes
  return { etag, modifiedAt, size: length, offset: 0, length, body: inMemory(bytes) }
}

async function foundBy(answer: GetAnswer): Promise<FoundObject> {
  const { head, length, body } = answer
  return {
    ...partOf(head.headers.get('content-range'), length),
    length,
    etag: head.headers.get('etag') ?? '',
    modifiedAt: new Date(head.headers.get('last-modified') ?? 0),
    body: length > wholeUpTo ? body : inMemory(await wholeOf(answer)),
  }
}

/** The code of an error answer, which is short and in XML. */
async function errorCodeOf(answer: GetAnswer): Promise<string | undefined> {
  if (answer.length <= wholeUpTo) {
    const text = (await wholeOf(answer)).toString('latin1')
    return /<Code>(\w+)<\/Code>/.exec(text)?.[1]
  }
  answer.body.destroy()
  return undefined
}

/** Copies the whole body. */
async function wholeOf({ length, body }: GetAnswer): Promise<Buffer> {
  const whole = Buffer.allocUnsafeSlow(length)
  let used = 0
  for (let bytes = await body.next(); bytes; bytes = await body.next()) {
    whole.set(bytes, used)
    used += bytes.length
  }
  return whole
}

async function getByClient(
  { s3, bucket, key, version }: ObjectRead,
  headers: GetHeaders,
  signal: AbortSignal | undefined,
): Promise<GetResult> {
  const command = new GetObjectCommand({
    Bucket: bucket,
    Key: key,
    VersionId: version,
    Range: headers.range,
    IfMatch: headers['if-match'],
  })
  try {
    const output = await s3.send(command, { ...(signal && { abortSignal: signal }) })
    // The client's type includes the bodies of browsers, too.
    const body = fromReadable(output.Body as Readable)
    const { ContentLength: length, ETag: etag = '', LastModified: modifiedAt } = output
    if (length === undefined) {
      body.destroy()
      throw lengthUnknown()
    }
    return {
      ...partOf(output.ContentRange, length),
      length,
      etag,
      modifiedAt: modifiedAt ?? new Date(0),
      body,
    }
  } catch (error) {
    if (isAnswer(error, 'NoSuchKey', 'NoSuchVersion')) return undefined
    if (isAnswer(error, 'InvalidRange')) return 'unsatisfiable'
    throw translateError(error)
  }
}

/** Reads a `Content-Range` such as `bytes 7-15/16` (RFC 9110 §14.4); without one, the body is the whole object. */
function partOf(contentRange: string | undefined, length: number) {
  const [, first, size] = /^bytes (\d+)-\d+\/(\d+)$/.exec(contentRange ?? '') ?? []
  return { offset: Number(first ?? 0), size: Number(size ?? length) }
}

/** A small object as a whole, as the store last sent it. */
interface KeptObject {
  readonly modifiedAt: Date
  /** In quotes. */
  readonly etag: string
  readonly bytes: Uint8Array
}

/** Small objects that were requested recently, by key. Serve one only after the store has confirmed that it is unchanged. */
export interface KeptObjects {
  readonly find: (key: string) => KeptObject | undefined
  readonly keep: (key: string, object: KeptObject) => void
  readonly drop: (key: string) => void
}

/** Bytes that an object takes beside its content. */
const overhead = 1024

/** A strong entity tag (RFC 9110 §8.8.3): if it is the same, so are the bytes. */
const strongTag = /^"[^"]+"$/

/** Keeps objects of at most `maxBytes` together; with 0, none. */
export function createKeptObjects(maxBytes: number): KeptObjects {
  const kept = new LRUCache<string, KeptObject>({
    // A size of 0 would mean no limit.
    maxSize: Math.max(1, maxBytes),
    sizeCalculation: ({ bytes }) => bytes.length + overhead,
  })
  return {
    find: (key) => kept.get(key),
    keep: (key, object) => {
      if (strongTag.test(object.etag)) kept.set(key, object)
    },
    drop: (key) => void kept.delete(key),
  }
}
