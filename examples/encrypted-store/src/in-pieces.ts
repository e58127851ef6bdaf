import { requireBytes } from '@holdfast/core'

export interface Piece {
  /** Good until the next piece is asked for. */
  readonly bytes: Uint8Array
  readonly isLast: boolean
}

/**
 * `content` cut anew, into pieces of `size` bytes, the first one of `first`. There always is a last piece, which may
 * be shorter, or empty if there is nothing.
 */
export async function* inPieces(
  content: AsyncIterable<Uint8Array>,
  size: number,
  first = size,
): AsyncGenerator<Piece> {
  let piece = new Uint8Array(first)
  let filled = 0
  for await (const chunk of content) {
    requireBytes(chunk)
    for (let taken = 0; taken < chunk.length;) {
      if (filled === piece.length) {
        yield { bytes: piece, isLast: false }
        if (piece.length !== size) piece = new Uint8Array(size)
        filled = 0
      }
      const part = chunk.subarray(taken, taken + piece.length - filled)
      piece.set(part, filled)
      taken += part.length
      filled += part.length
    }
  }
  yield { bytes: piece.subarray(0, filled), isLast: true }
}
