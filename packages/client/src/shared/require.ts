/** Refuses options that are no object; `call` is the function with what it needs. @throws TypeError */
export function requireOptions(call: string, options: unknown): void {
  if (typeof options === 'object' && options !== null) return
  if (options === undefined) throw new TypeError(`Options are missing: ${call}`)
  throw new TypeError(`Options must be an object, not ${kindOf(options)}: ${call}`)
}

/** Refuses a name of a file that is no string. @throws TypeError */
export function requireName(name: unknown): void {
  if (typeof name === 'string') return
  throw new TypeError(`The name of a file must be a string, not ${kindOf(name)}`)
}

/** Refuses what is not iterable, and strings, which would be read as characters. @throws TypeError */
export function requireIterable(what: string, value: unknown): void {
  const isIterable =
    typeof value === 'object' &&
    value !== null &&
    (Symbol.iterator in value || Symbol.asyncIterator in value)
  if (!isIterable)
    throw new TypeError(`${what} must be an array or another iterable, not ${kindOf(value)}`)
}

/** The URL in the option `what`. @throws TypeError that contains no secret of the address */
export function requireUrl(what: string, value: unknown, example: string): URL {
  if (typeof value === 'string' || value instanceof URL) {
    if (URL.canParse(String(value))) return new URL(value)
    throw new TypeError(`${what} is not an address such as ${example}`)
  }
  if (value === undefined) throw new TypeError(`${what} is missing: an address such as ${example}`)
  throw new TypeError(`${what} must be an address such as ${example}, not ${kindOf(value)}`)
}

/** The kind of `value`, for messages to programmers. */
export function kindOf(value: unknown): string {
  if (value === null || value === undefined) return String(value)
  if (Array.isArray(value)) return 'an array'
  const kind = typeof value
  return `${kind === 'object' ? 'an' : 'a'} ${kind}`
}

/**
 * Refuses a Node.js that is too old; otherwise it would fail during an upload.
 *
 * @throws Error that names the version that is needed, and this one
 */
export function requireRuntime(): void {
  // Node.js 22 has this, and older versions have not. Bun and Deno have it, whatever Node version they report.
  if (typeof (Promise as { withResolvers?: unknown }).withResolvers === 'function') return
  throw new Error(`holdfast needs Node.js 22 or newer, and this is ${process.version}`)
}
