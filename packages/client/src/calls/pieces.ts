import type { Requests } from '../requests/requests.ts'
import type { RequestBody } from '../transport/transport.ts'
import type { RereadableBody, UploadOptions } from './upload-options.ts'

/** A part of the content that is sent in one request. */
export interface Piece {
  /** How many bytes are left of it. */
  readonly size: number
  readonly body: RequestBody
  /** The size of the whole, if this is its last part. */
  readonly total: number | undefined
  /** Whether smaller ones follow if it fails. */
  readonly isEnlarged?: boolean
}

/** The parts of the content, each from where the server is. */
export interface Pieces {
  /** The size of the whole; `undefined` until it is known. */
  readonly size: number | undefined
  /** The whole; `undefined` where it cannot be read again. */
  readonly body: RereadableBody | undefined
  /** What follows `offset`, which is in the last part that was asked for, or at its end. */
  at(offset: number): Promise<Piece>
}

/** How large pieces are. */
interface Measure {
  /** So much is acknowledged at a time at first, and at least. */
  readonly first: number
  readonly most: number
  /** What a piece is to take. */
  readonly targetMs: number
}

/**
 * A proxy that takes no bodies as large as the first one is rare. After ten seconds the answer costs next to nothing, and a proxy that
 * holds all of a piece back loses no more of it.
 */
const measure: Measure = { first: 64 * 1024 ** 2, most: Infinity, targetMs: 10_000 }

/** Where only the answer to a piece says how far the upload is. */
const silentMeasure: Measure = { first: 1024 ** 2, most: 16 * 1024 ** 2, targetMs: 2000 }

/** A piece is at most so many times as large as the one before, whose time may have been that of a burst. */
const mostGrowth = 16

/** The part of a stream that is in memory until the server has it. */
export const streamPieceSize = 8 * 1024 ** 2

/**
 * Parts of `pieceSize`; by default what the pace of the last one brings in ten seconds, until one that is larger than the first fails. With
 * `beforeLast` the last one is one byte.
 *
 * @param now the time in milliseconds; that of the system by default
 */
export function piecesOfBody(
  body: RereadableBody,
  {
    pieceSize,
    beforeLast,
    isSilent = false,
  }: Pick<UploadOptions, 'pieceSize' | 'beforeLast'> & Partial<Pick<Requests, 'isSilent'>> = {},
  now = () => performance.now(),
): Pieces {
  const { first, most, targetMs } = isSilent ? silentMeasure : measure
  let size = pieceSize ?? first
  let largest = most
  let earlier: { readonly end: number; readonly startedAt: number } | undefined
  const resize = (offset: number) => {
    if (earlier === undefined || pieceSize !== undefined) return
    if (offset < earlier.end) {
      if (size > first) size = largest = first
      return
    }
    const growth = Math.min(targetMs / Math.max(1, now() - earlier.startedAt), mostGrowth)
    size = Math.min(Math.max(Math.floor(size * growth), first), largest)
  }
  return {
    size: body.size,
    body,
    async at(offset) {
      resize(offset)
      const last = beforeLast && body.size > 0 ? body.size - 1 : body.size
      if (offset === last) await beforeLast?.()
      const end = offset < last ? Math.min(offset + size, last) : body.size
      earlier = { end, startedAt: now() }
      return {
        size: end - offset,
        body: body.slice(offset, end),
        total: end === body.size ? end : undefined,
        isEnlarged: pieceSize === undefined && size > first,
      }
    },
  }
}

/** The parts of a stream that goes on with `rest` after `first`. */
export function piecesOfStream(
  first: Uint8Array,
  rest: AsyncIterator<Uint8Array>,
  signal: AbortSignal | undefined,
): Pieces {
  let start = 0
  let bytes = first
  let following: Promise<IteratorResult<Uint8Array>> | undefined
  const readAhead = () => {
    const next = unlessAborted(rest.next(), signal)
    // Whoever waits for it gets its error.
    next.catch(() => {})
    return next
  }
  return {
    size: undefined,
    body: undefined,
    async at(offset) {
      if (offset < start) throw new Error('The server has less than it has acknowledged')
      following ??= readAhead()
      if (offset >= start + bytes.length) {
        const next = await following
        if (!next.done) {
          start += bytes.length
          bytes = next.value
          following = readAhead()
        }
      }
      const { done } = await following
      const left = bytes.subarray(offset - start)
      return { size: left.length, body: left, total: done ? start + bytes.length : undefined }
    },
  }
}

/** The bytes of `chunks` in parts of `size`, the last one excepted. Nothing gives nothing. */
export async function* inParts(
  chunks: AsyncIterable<Uint8Array>,
  size: number,
): AsyncGenerator<Uint8Array, void> {
  let part = new Uint8Array(0)
  let filled = 0
  for await (const chunk of chunks) {
    for (let taken = 0; taken < chunk.length;) {
      if (filled === part.length) {
        if (filled === size) {
          yield part
          part = new Uint8Array(0)
          filled = 0
        }
        part = grown(part, Math.min(size, Math.max(64 * 1024, 2 * part.length)))
      }
      const more = chunk.subarray(taken, taken + part.length - filled)
      part.set(more, filled)
      filled += more.length
      taken += more.length
    }
  }
  if (filled > 0) yield part.subarray(0, filled)
}

function grown(bytes: Uint8Array, size: number): Uint8Array<ArrayBuffer> {
  const larger = new Uint8Array(size)
  larger.set(bytes)
  return larger
}

/** Rejects with the signal's reason as soon as that is aborted, whatever becomes of `promise`. */
export async function unlessAborted<T>(
  promise: Promise<T>,
  signal: AbortSignal | undefined,
): Promise<T> {
  if (!signal) return promise
  signal.throwIfAborted()
  let abort = () => {}
  const aborted = new Promise<never>((_, reject) => {
    abort = () => reject(signal.reason as Error)
    signal.addEventListener('abort', abort)
  })
  try {
    return await Promise.race([promise, aborted])
  } finally {
    signal.removeEventListener('abort', abort)
  }
}
