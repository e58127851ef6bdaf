/** Refuses options that are none; `call` is the function with what it needs. @throws TypeError */
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

/** Refuses what cannot be iterated over, and a string, whose characters are not what is meant. @throws TypeError */
export function requireIterable(what: string, value: unknown): void {
  const isIterable =
    typeof value === 'object' &&
    value !== null &&
    (Symbol.iterator in value || Symbol.asyncIterator in value)
  if (!isIterable)
    throw new TypeError(`${what} must be an array or another iterable, not ${kindOf(value)}`)
}

/** The URL that the option `what` is. @throws TypeError, which has no secret of the address */
export function requireUrl(what: string, value: unknown, example: string): URL {
  if (typeof value === 'string' || value instanceof URL) {
    if (URL.canParse(String(value))) return new URL(value)
    throw new TypeError(`${what} is no address such as ${example}`)
  }
  if (value === undefined) throw new TypeError(`${what} is missing: an address such as ${example}`)
  throw new TypeError(`${what} must be an address such as ${example}, not ${kindOf(value)}`)
}

/** What `value` is, for messages to programmers. */
export function kindOf(value: unknown): string {
  if (value === null || value === undefined) return String(value)
  if (Array.isArray(value)) return 'an array'
  const kind = typeof value
  return `${kind === 'object' ? 'an' : 'a'} ${kind}`
}

/**
 * Refuses a Node.js that is too old before it fails in the midst of an upload.
 *
 * @throws Error that names the version that is needed, and this one
 */
export function requireRuntime(): void {
  // What Node.js 22 has, and older ones have not. Bun and Deno have it, whatever version of Node they call themselves.
  if (typeof (Promise as { withResolvers?: unknown }).withResolvers === 'function') return
  throw new Error(`holdfast needs Node.js 22 or newer, and this is ${process.version}`)
}
