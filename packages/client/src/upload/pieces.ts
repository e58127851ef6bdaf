import { unlessAborted } from './unless-aborted.ts'
import type { RequestBody } from '../transport/transport.ts'
import type { RereadableBody } from './upload-options.ts'

/** A part of the content that is sent in one request. */
export interface Piece {
  /** How many bytes are left of it. */
  readonly size: number
  readonly body: RequestBody
  /** The size of the whole, if this is its last part. */
  readonly total: number | undefined
}

/** The parts of the content, each from where the server is. */
export interface Pieces {
  /** The size of the whole; `undefined` until it is known. */
  readonly size: number | undefined
  /** What follows `offset`, which is in the last part that was asked for, or at its end. */
  at(offset: number): Promise<Piece>
}

/** So much is acknowledged at a time: a proxy that takes no larger bodies is rare, and the answer costs next to nothing. */
const defaultPieceSize = 64 * 1024 ** 2

/** The part of a stream that is in memory until the server has it. */
export const streamPieceSize = 8 * 1024 ** 2

export function piecesOfBody(body: RereadableBody, pieceSize = defaultPieceSize): Pieces {
  return {
    size: body.size,
    async at(offset) {
      const end = Math.min(offset + pieceSize, body.size)
      return {
        size: end - offset,
        body: body.slice(offset, end),
        total: end === body.size ? end : undefined,
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
