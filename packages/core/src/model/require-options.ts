import { kindOf, requireMethods } from './require.ts'
import { requireRuntime } from './require-runtime.ts'

/** Refuses `value`, which is that of the option `what`, by a TypeError or a RangeError that says what it must be. */
export type OptionCheck = (what: string, value: unknown) => void

/**
 * Refuses options that a factory cannot have been meant to get. Each name has the check of its value; a name with `?` at its end
 * may be left out. `call` is the factory with the least that it needs, such as `createFileService({ store })`, for the messages.
 *
 * @throws Error where the runtime is too old, TypeError or RangeError that names the option that is missing or wrong
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

/** What can be called. */
export const requireFunction: OptionCheck = (what, value) => requireType(what, value, 'function')

/** Text, which may be empty. */
export const requireText: OptionCheck = (what, value) => requireType(what, value, 'string')

/** Yes or no. */
export const requireFlag: OptionCheck = (what, value) => requireType(what, value, 'boolean')

/** An array of texts. */
export const requireTexts: OptionCheck = (what, value) => {
  if (Array.isArray(value) && value.every((text) => typeof text === 'string')) return
  throw new TypeError(`${what} must be an array of strings, not ${kindOf(value)}`)
}

/** An object that has all of `methods`. */
export function having(...methods: readonly string[]): OptionCheck {
  return (what, value) => requireMethods(what, value, methods)
}

/** One of `words`. */
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
