/**
 * Refuses a chunk of content that is not bytes; every store calls it for every chunk. A stream with an encoding yields strings,
 * although its type may promise bytes, and the `length` of a string is not the number of its bytes.
 *
 * @throws TypeError that says what was passed, and what to pass
 */
export function requireBytes(chunk: unknown): asserts chunk is Uint8Array {
  if (!isBytes(chunk)) {
    throw new TypeError(
      `A chunk of content must be a Uint8Array, not ${kindOf(chunk)}${cure(chunk)}`,
    )
  }
  // Detached bytes would look like an empty chunk.
  if (chunk.length === 0 && chunk.buffer instanceof ArrayBuffer && chunk.buffer.detached) {
    throw new TypeError('A chunk of content is detached: its bytes were transferred elsewhere')
  }
}

/** Whether `value` is a Uint8Array, such as a Buffer, also one from another realm. */
export function isBytes(value: unknown): value is Uint8Array {
  return value instanceof Uint8Array || (ArrayBuffer.isView(value) && tagOf(value) === 'Uint8Array')
}

/** The name of a typed array's kind, in any realm; `undefined` for other views. */
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
 * Refuses a value that is not a number of `unit`; `what` is the name of the setting. A string such as `5GB`, compared with a number,
 * would limit nothing, or everything.
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
 * Refuses a value that is not a whole number of bytes; `what` is the name of the setting.
 *
 * @throws TypeError for another type, RangeError for any other number
 */
export function requireWholeBytes(what: string, value: unknown): void {
  requireCount(what, value)
  if (Number.isSafeInteger(value)) return
  throw new RangeError(`${what} must be a whole number of bytes, not ${String(value)}`)
}

/**
 * Refuses a value that is not an object with all of `methods`; `what` is its name in messages.
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

/** The kind of `value` with an article, for messages to programmers: `a string`, `an Array`, `null`. */
export function kindOf(value: unknown): string {
  if (value === null || value === undefined) return String(value)
  const kind = typeof value === 'object' ? classOf(value) : typeof value
  return `${/^[aeio]/iu.test(kind) ? 'an' : 'a'} ${kind}`
}

function classOf(value: object): string {
  // A minifier may have shortened this name.
  const { name } = (value.constructor as { readonly name?: unknown } | undefined) ?? {}
  return typeof name === 'string' && name !== '' ? name : 'Object'
}

/** Checks the `value` of the option `what`. Throws a TypeError or a RangeError that says what it must be. */
export type OptionCheck = (what: string, value: unknown) => void

/**
 * Refuses wrong options of a factory. `checks` has the check of each option's value by its name; an option whose name ends with `?`
 * may be absent. `call` shows in messages how to call the factory with what it needs, such as `createFileService({ store })`.
 *
 * @throws Error if the runtime is too old; TypeError or RangeError that names the option that is missing or wrong
 */
export function requireOptions(
  call: string,
  options: unknown,
  checks: Readonly<Record<string, OptionCheck>>,
): void {
  requireRuntime()
  if (options === undefined || options === null) throw new TypeError(`Options are missing: ${call}`)
  if (typeof options !== 'object') {
    throw new TypeError(`Options must be an object, not ${kindOf(options)}: ${call}`)
  }
  for (const [name, check] of Object.entries(checks)) {
    const what = name.replace(/\?$/, '')
    const value: unknown = Reflect.get(options, what)
    if (value !== undefined) check(what, value)
    else if (what === name) throw new TypeError(`${what} is missing: ${call}`)
  }
}

/** The value must be a function. */
export const requireFunction: OptionCheck = (what, value) => requireType(what, value, 'function')

/** The value must be a string, possibly empty. */
export const requireText: OptionCheck = (what, value) => requireType(what, value, 'string')

/** The value must be a boolean. */
export const requireFlag: OptionCheck = (what, value) => requireType(what, value, 'boolean')

/** The value must be an array of strings. */
export const requireTexts: OptionCheck = (what, value) => {
  if (Array.isArray(value) && value.every((text) => typeof text === 'string')) return
  throw new TypeError(`${what} must be an array of strings, not ${kindOf(value)}`)
}

/** The value must be an object that has all of `methods`. */
export function having(...methods: readonly string[]): OptionCheck {
  return (what, value) => requireMethods(what, value, methods)
}

/** The value must be one of `words`. */
export function oneOf(...words: readonly string[]): OptionCheck {
  return (what, value) => {
    if (words.some((word) => word === value)) return
    const shown = typeof value === 'string' ? JSON.stringify(value) : kindOf(value)
    throw new TypeError(
      `${what} must be ${words.map((word) => `"${word}"`).join(' or ')}, not ${shown}`,
    )
  }
}

function requireType(what: string, value: unknown, type: 'function' | 'string' | 'boolean') {
  if (typeof value !== type) throw new TypeError(`${what} must be a ${type}, not ${kindOf(value)}`)
}

/** The member of Node's `process` that is used here. */
interface NodeProcess {
  readonly version?: string
}

/**
 * Refuses a runtime that is too old, before it fails in the middle of an upload. It looks for a function that came with Node.js 22,
 * since the version of Node that Bun and Deno report does not show what they can do.
 *
 * @throws Error that names the needed version, and the present one
 */
function requireRuntime(): void {
  if (typeof (Promise as { withResolvers?: unknown }).withResolvers === 'function') return
  const { process } = globalThis as { readonly process?: NodeProcess }
  const found = process?.version === undefined ? '' : `, and this is ${process.version}`
  throw new Error(`holdfast needs Node.js 22 or newer${found}`)
}
