import { advice, rangeErrorOf } from '@holdfast/core'

const factors: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 }
const factorsWithDays: typeof factors = { ...factors, d: 86_400_000 }

/** The longest time that a timer of Node takes, in milliseconds: about 24 days. */
const longestTimer = 2 ** 31 - 1
const longestPeriod = 1_000 * 86_400_000

/**
 * Milliseconds from what a person writes: `500ms`, `30s`, `5m`, `2h`.
 *
 * @throws RangeError with its remedy (see `adviceOf`), whose message ends a sentence (`is not a time …`) for anything else, and for times that no timer
 * takes
 */
export function parseDuration(text: string): number {
  const ms = millisecondsOf(text, factors)
  if (!(ms >= 1 && ms <= longestTimer)) {
    throw rangeErrorOf(
      advice('is not a time between 1ms and 24 days', 'write it as in 500ms, 30s, 5m or 2h'),
    )
  }
  return Math.round(ms)
}

/** The same, and `0` with or without a unit. */
export function parseDelay(text: string): number {
  return /^0\s*(ms|s|m|h)?$/.test(text.trim()) ? 0 : parseDuration(text)
}

/** The same as `parseDuration` for times that no timer waits for: also in days, such as `7d`, and up to 1000 of them. */
export function parsePeriod(text: string): number {
  const ms = millisecondsOf(text, factorsWithDays)
  if (!(ms >= 1 && ms <= longestPeriod)) {
    throw rangeErrorOf(
      advice('is not a time between 1ms and 1000 days', 'write it as in 30m, 12h or 7d'),
    )
  }
  return Math.round(ms)
}

/** NaN for what is no number with one of the units. */
function millisecondsOf(text: string, units: Readonly<Record<string, number>>): number {
  const [, digits, unit = ''] = /^(\d{1,10}(?:\.\d{1,3})?)\s*(ms|s|m|h|d)$/.exec(text.trim()) ?? []
  return Number(digits) * (units[unit] ?? NaN)
}
