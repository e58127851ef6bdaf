import type { DatabaseSync } from 'node:sqlite'
import { requireBytes, type ByteRange } from '@holdfast/core'

const pieceSize = 256 * 1024

/** `content` cut anew, into pieces of one size and a shorter last one. A piece is good until the next is asked for. */
export async function* inPieces(content: AsyncIterable<Uint8Array>) {
  const piece = new Uint8Array(pieceSize)
  let filled = 0
  for await (const chunk of content) {
    requireBytes(chunk)
    for (let taken = 0; taken < chunk.length;) {
      const part = chunk.subarray(taken, taken + pieceSize - filled)
      piece.set(part, filled)
      taken += part.length
      filled += part.length
      if (filled < pieceSize) continue
      yield piece
      filled = 0
    }
  }
  if (filled > 0) yield piece.subarray(0, filled)
}

/** The bytes of `range`; throws where one is missing. Calls `release` when it has come to an end, good or bad. */
export async function* readPieces(
  reader: DatabaseSync,
  version: number,
  { offset, length }: ByteRange,
  release: () => void,
) {
  try {
    const select = reader.prepare('SELECT bytes FROM piece WHERE version = ? AND position = ?')
    for (let at = offset; at < offset + length;) {
      const bytes = select.get(version, Math.floor(at / pieceSize))?.bytes
      const start = at % pieceSize
      if (!(bytes instanceof Uint8Array) || bytes.length <= start)
        throw new Error(`Version ${version} ends at ${at} of ${offset + length} bytes`)
      const part = bytes.subarray(start, start + offset + length - at)
      at += part.length
      yield part
    }
  } finally {
    release()
  }
}
