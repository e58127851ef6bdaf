import type { Readable } from 'node:stream'
import { GetObjectCommand, type GetObjectCommandOutput, type S3Client } from '@aws-sdk/client-s3'
import {
  FileServiceError,
  resolveRange,
  type ByteRange,
  type OpenBlob,
  type RangeRequest,
} from '@holdfast/core'
import { createObjectContent } from './object-content.ts'
import { blobInfo, statObject } from './stat-object.ts'
import { isAnswer, translateError } from './s3-errors.ts'

/** An object to be read. */
export interface ObjectRead {
  readonly s3: S3Client
  readonly bucket: string
  readonly key: string
  /** What the port calls it. */
  readonly name: string
}

/** Opens the object for reading; `undefined` if there is none. */
export async function readBlob(
  read: ObjectRead,
  request: RangeRequest | undefined,
): Promise<OpenBlob | undefined> {
  if (request === undefined || canSelect(request)) {
    const found = await get(read, request)
    if (found !== 'unsatisfiable') return found && openBlob(read, request, found)
  }
  // S3 refuses a range without telling what the object is.
  const info = await statObject(read)
  if (info === undefined) return undefined
  // Replaced by a longer one in this very moment.
  if (resolveRange(request, info.size) !== undefined) return readBlob(read, request)
  return { info, range: undefined, content: nothing(), close: async () => {} }
}

interface GetConditions {
  /** Only the object of this tag. */
  readonly etag?: string | undefined
  readonly signal?: AbortSignal
}

async function get(
  { s3, bucket, key }: ObjectRead,
  request: RangeRequest | undefined,
  { etag, signal }: GetConditions = {},
): Promise<GetObjectCommandOutput | 'unsatisfiable' | undefined> {
  const command = new GetObjectCommand({
    Bucket: bucket,
    Key: key,
    ...(request !== undefined && { Range: rangeHeader(request) }),
    ...(etag !== undefined && { IfMatch: etag }),
  })
  try {
    return await s3.send(command, { ...(signal && { abortSignal: signal }) })
  } catch (error) {
    if (isAnswer(error, 'NoSuchKey')) return undefined
    if (isAnswer(error, 'InvalidRange')) return 'unsatisfiable'
    throw translateError(error)
  }
}

function openBlob(
  read: ObjectRead,
  request: RangeRequest | undefined,
  found: GetObjectCommandOutput,
): OpenBlob {
  const body = bodyOf(found)
  const size = Number(found.ContentRange?.split('/')[1] ?? found.ContentLength)
  const range = resolveRange(request, size)
  if ((range?.length ?? 0) !== found.ContentLength) {
    body.destroy()
    throw anotherRange()
  }
  const goOn = (rest: ByteRange, closed: AbortSignal) =>
    getRest(read, rest, { etag: found.ETag, signal: closed })
  return {
    info: blobInfo(read.name, { ...found, ContentLength: size }),
    range,
    ...createObjectContent(body, range ?? { offset: 0, length: 0 }, goOn),
  }
}

/** What is left of the object that was opened. */
async function getRest(
  read: ObjectRead,
  { offset, length }: ByteRange,
  conditions: GetConditions,
): Promise<Readable> {
  const found = await get(read, { first: offset, last: offset + length - 1 }, conditions)
  if (found === undefined || found === 'unsatisfiable') {
    throw new FileServiceError('store-unavailable', 'The object is gone that was being read')
  }
  const body = bodyOf(found)
  if (found.ContentRange?.startsWith(`bytes ${offset}-`) === true) return body
  body.destroy()
  throw anotherRange()
}

function anotherRange(): FileServiceError {
  return new FileServiceError('store-unavailable', 'The store sends another range than asked for')
}

/** The client's type names what browsers give, too. */
function bodyOf({ Body: body }: GetObjectCommandOutput): Readable {
  return body as Readable
}

/** Whether there is a size for which `request` selects a byte. */
function canSelect(request: RangeRequest): boolean {
  return resolveRange(request, Number.MAX_SAFE_INTEGER) !== undefined
}

function rangeHeader(request: RangeRequest): string {
  if ('suffixLength' in request) return `bytes=-${request.suffixLength}`
  return `bytes=${request.first}-${request.last ?? ''}`
}

async function* nothing(): AsyncIterable<Uint8Array> {}
