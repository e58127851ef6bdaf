import { abortable, requireBytes } from '@holdfast/core'

/** The content of an append, which ends instead of throwing. */
export interface AppendSource {
  /** The tail first, then what the caller gives, until it ends, throws or is stopped. */
  readonly content: AsyncIterable<Uint8Array>
  /** Gives a chunk back to the caller, if it is one of the caller's. */
  readonly release: (chunk: Uint8Array) => void
  /** Bytes of the caller's that were taken. */
  readonly taken: () => number
  /** Why the content ended before its end. */
  readonly failure: () => { readonly error: unknown } | undefined
}

/**
 * What came counts, so that the failure of the content must not lose what has been gathered of it. A failure of `tail`
 * is thrown: nothing has been taken yet.
 */
export function createAppendSource(
  tail: AsyncIterable<Uint8Array>,
  given: AsyncIterable<Uint8Array>,
  stop: AbortSignal,
  release: (chunk: Uint8Array) => void = () => {},
): AppendSource {
  let isTail = true
  let taken = 0
  let failure: { readonly error: unknown } | undefined
  async function* content() {
    for await (const chunk of tail) yield chunk
    isTail = false
    try {
      for await (const chunk of abortable(given, stop)) {
        requireBytes(chunk)
        taken += chunk.length
        yield chunk
      }
      stop.throwIfAborted()
    } catch (error) {
      failure = { error }
    }
  }
  return {
    content: content(),
    release: (chunk) => {
      if (!isTail) release(chunk)
    },
    taken: () => taken,
    failure: () => failure,
  }
}
