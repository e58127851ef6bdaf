import { kindOf } from './kind-of.ts'

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
