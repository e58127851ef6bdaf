import { download } from '../download/download.ts'
import { isHoldfastError } from '../errors/holdfast-error.ts'
import type { Requests } from '../requests/requests.ts'
import type { Patience } from '../requests/with-retries.ts'
import { stat } from '../stat/stat.ts'
import { chunksOf } from '../streams/chunks-of.ts'
import type { Pieces } from './pieces.ts'

/** Whether the file of that name has exactly this content, of `size` bytes. Reads the file only where its size is the same. */
export async function hasSameContent(
  requests: Requests,
  patience: Patience,
  name: string,
  { pieces, size, signal }: Expected,
): Promise<boolean> {
  try {
    const found = await stat(requests, patience, name, { signal, isRounded: true })
    if (found.size !== size) return false
    const { body } = await download(requests, patience, name, { signal })
    return await areSame(chunksOf(body), bytesOf(pieces, size))
  } catch (error) {
    if (isHoldfastError(error, 'not-found', 'precondition-failed')) return false
    throw error
  }
}

interface Expected {
  readonly pieces: Pieces
  readonly size: number
  readonly signal: AbortSignal | undefined
}

async function areSame(
  chunks: AsyncIterable<Uint8Array>,
  others: AsyncGenerator<Uint8Array, void>,
): Promise<boolean> {
  let other = new Uint8Array()
  try {
    for await (const chunk of chunks) {
      for (let at = 0; at < chunk.length;) {
        if (other.length === 0) {
          const next = await others.next()
          if (next.done) return false
          other = next.value as Uint8Array<ArrayBuffer>
        }
        const length = Math.min(other.length, chunk.length - at)
        for (let index = 0; index < length; index++) {
          if (chunk[at + index] !== other[index]) return false
        }
        at += length
        other = other.subarray(length)
      }
    }
    return other.length === 0 && (await others.next()).done === true
  } finally {
    await others.return()
  }
}

/** The first `size` bytes of what `pieces` are of. */
export async function* bytesOf(pieces: Pieces, size: number): AsyncGenerator<Uint8Array, void> {
  let left = size
  while (left > 0) {
    const { body } = await pieces.at(size - left)
    const chunks =
      body instanceof Uint8Array ? [body] : body instanceof Blob ? chunksOf(body.stream()) : body
    for await (const chunk of chunks) {
      yield chunk.subarray(0, left)
      left -= chunk.length
      if (left <= 0) return
    }
  }
}
