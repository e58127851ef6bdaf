import {
  FileServiceError,
  resolveRange,
  type ByteRange,
  type OpenBlob,
  type OpenOptions,
  type RangeRequest,
} from '@holdfast/core'
import { blobInfo } from '../keys/object-keys.ts'
import type { StoreBody } from '../http/get-exchange.ts'
import { getObject, type FoundObject, type ObjectRead } from './get-object.ts'
import { statObject, sureOfAbsence } from './stat-object.ts'

/** The most attempts to open an object that is replaced meanwhile. */
const mostAttempts = 5

/** Opens the object for reading; `undefined` if there is none. */
export async function readBlob(
  read: ObjectRead,
  options: OpenOptions,
  attempts = mostAttempts,
): Promise<OpenBlob | undefined> {
  const { range: request } = options
  if (request === undefined || canSelect(request)) {
    const headers = request ? { range: rangeHeader(request) } : {}
    const found = await sureOfAbsence(read, () => getObject(read, headers))
    if (found !== 'unsatisfiable') return found && openBlob(read, options, found)
  }
  // S3 refuses a range without describing the object.
  const info = await statObject(read)
  if (info === undefined) return undefined
  const range = resolveRange(request, info.size)
  if (range === undefined) {
    return { info, range, content: nothing(), close: async () => {} }
  }
  // Some servers refuse a suffix longer than the object, which HTTP allows.
  const found = await sureOfAbsence(read, () => getObject(read, { range: exactly(range) }))
  const isFound = found !== undefined && found !== 'unsatisfiable'
  if (isFound && found.size === info.size) return openBlob(read, options, found)
  // The object was replaced at this moment.
  if (isFound) found.body.destroy()
  if (attempts === 1) throw anotherRange()
  return readBlob(read, options, attempts - 1)
}

function exactly({ offset, length }: ByteRange): string {
  return rangeHeader({ first: offset, last: offset + length - 1 })
}

function openBlob(
  read: ObjectRead,
  { range: request, reuseChunks = false }: OpenOptions,
  found: FoundObject,
): OpenBlob {
  const { size, modifiedAt, etag, body } = found
  const range = resolveRange(request, size)
  const content = createObjectContent(body, {
    range: range ?? { offset: 0, length: 0 },
    reuseChunks,
    goOn: (rest, closed) => getRest(read, rest, etag, closed),
  })
  if ((range?.length ?? 0) !== found.length || (range?.offset ?? 0) !== found.offset) {
    body.destroy()
    throw anotherRange()
  }
  const info = blobInfo(read.name, { size, modifiedAt, etag })
  return { info, range, ...content, ...(body.bytes && { bytes: body.bytes }) }
}

/** Gets the remaining bytes of the object that was opened. */
async function getRest(
  read: ObjectRead,
  rest: ByteRange,
  etag: string,
  closed: AbortSignal,
): Promise<StoreBody> {
  const { offset, length } = rest
  const range = exactly(rest)
  const found = await sureOfAbsence(read, () =>
    getObject(read, { range, 'if-match': etag }, closed),
  )
  if (found === undefined || found === 'unsatisfiable') {
    throw new FileServiceError('store-unavailable', 'The object is gone that was being read')
  }
  if (found.offset === offset && found.length === length) return found.body
  found.body.destroy()
  throw anotherRange()
}

function anotherRange(): FileServiceError {
  return new FileServiceError('store-unavailable', 'The store sends another range than asked for')
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

/** The most attempts in a row without a byte. */
const mostEmptyAttempts = 3

interface ObjectContent {
  readonly range: ByteRange
  /** Whether a chunk may be overwritten once the next one is requested. */
  readonly reuseChunks: boolean
  /** Fetches the rest of the same object. The signal aborts when the reader has stopped. */
  readonly goOn: (rest: ByteRange, closed: AbortSignal) => Promise<StoreBody>
}

/**
 * The bytes of a range, from `body`. If that breaks off, fetches the rest again: a node of the store may go down while a large file is
 * read.
 */
function createObjectContent(
  body: StoreBody,
  { range, reuseChunks, goOn }: ObjectContent,
): Pick<OpenBlob, 'content' | 'close'> {
  let isClosed = false
  /** Ends the request for the rest, if there was one. */
  let resuming: AbortController | undefined
  let current = body
  let { offset, length } = range
  let failures = 0

  async function next(): Promise<IteratorResult<Uint8Array, undefined>> {
    for (;;) {
      try {
        const chunk = await current.next()
        if (chunk === undefined && length > 0) throw new Error('The store ended its answer early')
        if (chunk === undefined) return { done: true, value: undefined }
        failures = 0
        offset += chunk.length
        length -= chunk.length
        return { done: false, value: reuseChunks ? chunk : Uint8Array.from(chunk) }
      } catch (error) {
        if (isClosed || ++failures === mostEmptyAttempts) throw unreadable(error)
      }
      // The connection broke after the last byte.
      if (length === 0) return { done: true, value: undefined }
      current = await resume()
    }
  }

  async function resume(): Promise<StoreBody> {
    resuming = new AbortController()
    const rest = await goOn({ offset, length }, resuming.signal).catch((error: unknown) => {
      throw unreadable(error)
    })
    if (isClosed) rest.destroy()
    return rest
  }

  const close = async () => {
    isClosed = true
    resuming?.abort()
    current.destroy()
  }
  return {
    content: {
      [Symbol.asyncIterator]: () => ({
        next,
        return: async () => {
          await close()
          return { done: true, value: undefined }
        },
      }),
    },
    close,
  }
}

function unreadable(cause: unknown): FileServiceError {
  return new FileServiceError('store-unavailable', 'The object cannot be read to its end', {
    cause,
  })
}
