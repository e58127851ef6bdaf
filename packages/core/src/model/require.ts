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

/**
 * Refuses what is no number of `unit`, `what` being the name of the setting: compared with a number, a string such as
 * `5GB` would limit nothing, or everything.
 *
 * @throws TypeError for another type, RangeError for a number below 0 and for NaN
 */
export function requireCount(
  what: string,
  value: unknown,
  unit = 'bytes',
): asserts value is number {
  if (typeof value !== 'number') {
    const shown = typeof value === 'string' ? `the string ${JSON.stringify(value)}` : kindOf(value)
    throw new TypeError(`${what} must be a number of ${unit}, not ${shown}`)
  }
  if (!(value >= 0)) throw new RangeError(`${what} must be a number of ${unit}, not ${value}`)
}

/**
 * Refuses what is no whole number of bytes, `what` being the name of the setting.
 *
 * @throws TypeError for another type, RangeError for any other number
 */
export function requireWholeBytes(what: string, value: unknown): void {
  requireCount(what, value)
  if (Number.isSafeInteger(value)) return
  throw new RangeError(`${what} must be a whole number of bytes, not ${String(value)}`)
}

/**
 * Refuses what cannot be the part of a service that is called `what`.
 *
 * @throws TypeError that names the first of `methods` that is missing
 */
export function requireMethods(what: string, value: unknown, methods: readonly string[]): void {
  if (value === undefined) throw new TypeError(`${what} is missing`)
  if (value instanceof Promise) throw new TypeError(`${what} is a Promise: await it first`)
  if (typeof value !== 'object' || value === null) {
    throw new TypeError(`${what} must be an object, not ${kindOf(value)}`)
  }
  const missing = methods.find((method) => typeof Reflect.get(value, method) !== 'function')
  if (missing !== undefined) throw new TypeError(`${what} has no ${missing}()`)
}

/** What `value` is, with its article, for messages to programmers: `a string`, `an Array`, `null`. */
export function kindOf(value: unknown): string {
  if (value === null || value === undefined) return String(value)
  const kind = typeof value === 'object' ? classOf(value) : typeof value
  return `${/^[aeio]/iu.test(kind) ? 'an' : 'a'} ${kind}`
}

function classOf(value: object): string {
  // Not the name of its constructor: builds shorten those.
  const { name } = (value.constructor as { readonly name?: unknown } | undefined) ?? {}
  return typeof name === 'string' && name !== '' ? name : 'Object'
}
