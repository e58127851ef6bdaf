import type { DatabaseSync } from 'node:sqlite'
import { resolveRange, type BlobKey, type OpenBlob, type RangeRequest } from '@holdfast/core'
import { find } from './blobs.ts'
import { readPieces } from './pieces.ts'

/** Opens a blob on `reader`, a connection of its own; `undefined` if there is none. `release` closes the connection. */
export function openBlob(
  reader: DatabaseSync,
  key: BlobKey,
  request: RangeRequest | undefined,
  release: () => void,
): OpenBlob | undefined {
  // Until the connection is closed, it sees what there is now.
  reader.exec('BEGIN')
  const found = find(reader, key)
  if (!found) return undefined
  const { info, version } = found
  const range = resolveRange(request, info.size)
  const pieces = readPieces(reader, version, range ?? { offset: 0, length: 0 }, release)
  return {
    info,
    range,
    content: releasedWhenStopped(pieces, release),
    close: async () => release(),
  }
}

/** A generator that is stopped before its first step never runs, and so does not come to its `finally`. */
function releasedWhenStopped(
  pieces: AsyncIterator<Uint8Array>,
  release: () => void,
): AsyncIterable<Uint8Array> {
  const stop = async () => {
    release()
    return { done: true, value: undefined } as const
  }
  return { [Symbol.asyncIterator]: () => ({ next: () => pieces.next(), return: stop }) }
}
