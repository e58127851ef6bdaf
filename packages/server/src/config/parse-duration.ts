import { advice, rangeErrorOf } from '@holdfast/core'

const factors: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 }

/** The longest time that a timer of Node takes, in milliseconds: about 24 days. */
const longest = 2 ** 31 - 1

/**
 * Milliseconds from what a person writes: `500ms`, `30s`, `5m`, `2h`.
 *
 * @throws RangeError with its remedy (see `adviceOf`), whose message ends a sentence (`is not a time …`) for anything else, and for times that no timer
 * takes
 */
export function parseDuration(text: string): number {
  const [, digits, unit = ''] = /^(\d{1,10}(?:\.\d{1,3})?)\s*(ms|s|m|h)$/.exec(text.trim()) ?? []
  const ms = Number(digits) * (factors[unit] ?? NaN)
  if (!(ms >= 1 && ms <= longest)) {
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
