import type { Requests } from '../requests/requests.ts'
import type { RequestBody } from '../shared/transport.ts'
import type { RereadableBody, UploadOptions } from './upload-options.ts'

/** A part of the content that one request sends. */
export interface Piece {
  /** The number of bytes in it. */
  readonly size: number
  readonly body: RequestBody
  /** The size of the whole content, if this is its last piece. */
  readonly total: number | undefined
  /** Whether smaller pieces follow if this one fails. */
  readonly isEnlarged?: boolean
}

/** Divides the content into pieces, each of which begins at the server's offset. */
export interface Pieces {
  /** The size of the whole content; `undefined` until it is known. */
  readonly size: number | undefined
  /** The whole content; `undefined` if it cannot be read again. */
  readonly body: RereadableBody | undefined
  /** The piece at `offset`, which must be in the last piece returned, or at its end. */
  at(offset: number): Promise<Piece>
}

/** How large pieces are. */
interface PieceSizes {
  /** Bytes of the first piece, and the fewest of any. */
  readonly first: number
  readonly most: number
  /** How long a piece should take. */
  readonly targetMs: number
}

/**
 * Few proxies refuse bodies as large as the first piece. With ten seconds for a piece, its answer costs next to nothing, and a proxy that
 * holds back a whole piece loses no more than that.
 */
const pieceSizes: PieceSizes = { first: 64 * 1024 ** 2, most: Infinity, targetMs: 10_000 }

/** For transports that do not report progress: only the answer to a piece shows how far the upload is. */
const silentPieceSizes: PieceSizes = { first: 1024 ** 2, most: 16 * 1024 ** 2, targetMs: 2000 }

/** The most times that a piece may be larger than the one before: that may have been fast by a burst. */
const mostGrowth = 16

/** Bytes of a stream that stay in memory until the server has them. */
export const streamPieceSize = 8 * 1024 ** 2

/**
 * Pieces of `pieceSize`. By default each has what the speed of the last one brings in ten seconds, until a piece larger than the first
 * fails. With `beforeLast` the last piece is one byte.
 *
 * @param now the time in milliseconds; by default the system's
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
  const { first, most, targetMs } = isSilent ? silentPieceSizes : pieceSizes
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

/** The pieces of a stream: `first` has been read, and `rest` follows. */
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
    // The `await` of it reports its error.
    next.catch(() => {})
    return next
  }
  return {
    size: undefined,
    body: undefined,
    async at(offset) {
      if (offset < start) throw new Error('The server has fewer bytes than it has acknowledged')
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

/** The bytes of `chunks` in parts of exactly `size`; only the last one may be smaller. No part is empty. */
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

/** Settles as `promise` does, but rejects with the signal's reason as soon as that aborts. */
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
