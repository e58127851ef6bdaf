import { kindOf } from './kind-of.ts'

/**
 * Refuses a chunk of content that is not bytes; every store calls it for every chunk. A stream with an encoding yields
 * strings, whatever its type says, and a string has a `length`, too, which is not the number of its bytes.
 *
 * @throws TypeError that says what came, and what to pass
 */
export function requireBytes(chunk: unknown): asserts chunk is Uint8Array {
  if (!isBytes(chunk)) {
    throw new TypeError(
      `A chunk of content must be a Uint8Array, not ${kindOf(chunk)}${cure(chunk)}`,
    )
  }
  // Detached bytes look like an empty chunk.
  if (chunk.length === 0 && chunk.buffer instanceof ArrayBuffer && chunk.buffer.detached) {
    throw new TypeError('A chunk of content is detached: its bytes were transferred elsewhere')
  }
}

/** Whether `value` is a Uint8Array, a Buffer for one, also where it comes from another realm. */
export function isBytes(value: unknown): value is Uint8Array {
  return value instanceof Uint8Array || (ArrayBuffer.isView(value) && tagOf(value) === 'Uint8Array')
}

/** The kind of a typed array that its realm has given it; `undefined` for other views. */
function tagOf(view: ArrayBufferView): unknown {
  return (view as { readonly [Symbol.toStringTag]?: unknown })[Symbol.toStringTag]
}

function cure(chunk: unknown): string {
  if (typeof chunk === 'string') {
    return ': give the stream no encoding, or pass the whole text as one string'
  }
  if (chunk instanceof ArrayBuffer) return ': pass new Uint8Array(buffer)'
  return ''
}
