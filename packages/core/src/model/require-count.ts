import { kindOf } from './kind-of.ts'

/**
 * Refuses what is no number of `unit`, `what` being the name of the setting: compared with a number, a string such as
 * `5GB` would limit nothing, or everything.
 *
 * @throws TypeError for another type, RangeError for a number below 0 and for NaN
 */
export function requireCount(what: string, value: unknown, unit = 'bytes'): void {
  if (typeof value !== 'number') {
    const shown = typeof value === 'string' ? `the string ${JSON.stringify(value)}` : kindOf(value)
    throw new TypeError(`${what} must be a number of ${unit}, not ${shown}`)
  }
  if (!(value >= 0)) throw new RangeError(`${what} must be a number of ${unit}, not ${value}`)
}
