import { download } from '../download/download.ts'
import { isHoldfastError } from '../errors/holdfast-error.ts'
import type { Requests } from '../requests/requests.ts'
import type { Patience } from '../requests/with-retries.ts'
import { stat } from '../stat/stat.ts'
import { chunksOf } from '../streams/chunks-of.ts'
import type { RereadableBody } from './upload-options.ts'

/** Whether the file of that name has exactly this content, of `size` bytes. Reads the file only where its size is the same. */
export async function hasSameContent(
  requests: Requests,
  patience: Patience,
  name: string,
  { body, size, signal }: Expected,
): Promise<boolean> {
  try {
    const found = await stat(requests, patience, name, { signal, isRounded: true })
    if (found.size !== size) return false
    const served = await download(requests, patience, name, { signal })
    return await areSame(chunksOf(served.body), beginningOf(body, size))
  } catch (error) {
    if (isHoldfastError(error, 'not-found', 'precondition-failed')) return false
    throw error
  }
}

interface Expected {
  readonly body: RereadableBody
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

/** The first `size` bytes of `body`. */
export async function* beginningOf(
  body: RereadableBody,
  size: number,
): AsyncGenerator<Uint8Array, void> {
  const beginning = body.slice(0, size)
  if (beginning instanceof Uint8Array) yield beginning
  else if (beginning instanceof Blob) yield* chunksOf(beginning.stream())
  else yield* beginning
}
