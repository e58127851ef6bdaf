import {
  advice,
  closestWord,
  rangeErrorOf,
  rights,
  rightSets,
  rightsProblem,
  type Right,
} from '@holdfast/core'

/**
 * The rights of a customer or login as they are written: a word for a usual set, or a list; `undefined` if that is every right.
 *
 * @throws RangeError with its remedy (see `adviceOf`) for unknown words and rights, and for `replace` without `create`
 */
export function parseRights(may: string | readonly string[]): readonly Right[] | undefined {
  const written: readonly string[] = typeof may === 'string' ? setOf(may) : may
  const problem = rightsProblem(written)
  if (problem !== undefined) throw rangeErrorOf(advice(problem, remedyFor(written)))
  const found = rights.filter((right) => written.includes(right))
  return found.length === rights.length ? undefined : found
}

function setOf(word: string): readonly Right[] {
  const sets: Readonly<Record<string, readonly Right[]>> = rightSets
  const found = Object.hasOwn(sets, word) ? sets[word] : undefined
  if (found) return found
  const meant = closestWord(word, Object.keys(sets))
  const sentence = `write one of ${Object.keys(sets).join(', ')}, or a list such as [list, read]`
  const hint = meant === undefined ? sentence : `did you mean ${meant}?`
  throw rangeErrorOf(advice('names no set of rights', hint))
}

function remedyFor(written: readonly string[]): string {
  const unknown = written.find((right) => !rights.some((known) => known === right))
  if (unknown === undefined) return 'add create, or remove replace'
  const meant = closestWord(unknown, rights)
  return meant === undefined ? `known: ${rights.join(', ')}` : `did you mean ${meant}?`
}

/** How a date or a time is written. */
export const dateRemedy = 'write one as in 2027-01-31, or a time as in 2027-01-31T12:00:00Z'

const form =
  /^(\d{4})-(\d{2})-(\d{2})(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:\d{2}))?$/

/**
 * Until when a login is good, in milliseconds since 1970. A date includes the whole day in UTC.
 *
 * @throws RangeError with its remedy (see `adviceOf`) for what is neither a date nor a time of RFC 3339
 */
export function parseUntil(text: string): number {
  const [whole, year, month, day] = form.exec(text) ?? []
  const date = new Date(`${year}-${month}-${day}`)
  const moment = Date.parse(text)
  // Dates such as 2027-02-30 are read as a later day, or not at all.
  const exists = date.getUTCDate() === Number(day) && !Number.isNaN(moment)
  if (whole === undefined || !exists) {
    throw rangeErrorOf(advice('is not a date', dateRemedy))
  }
  return text.includes('T') ? moment : date.setUTCDate(date.getUTCDate() + 1)
}

const hourMs = 3_600_000
const units: Readonly<Record<string, number>> = { h: hourMs, d: 24 * hourMs }

/**
 * How long after their last change files expire, in milliseconds: `12h`, `30d`.
 *
 * @throws RangeError with its remedy (see `adviceOf`) for anything else, and for less than an hour or more than 36,500 days
 */
export function parseExpireAfter(text: string): number {
  const [, digits, unit = ''] = /^(\d{1,7}(?:\.\d{1,3})?)\s*(h|d)$/.exec(text.trim()) ?? []
  const ms = Number(digits) * (units[unit] ?? NaN)
  if (ms >= hourMs && ms <= 36_500 * 24 * hourMs) return Math.round(ms)
  throw rangeErrorOf(
    advice('is not a time between 1h and 36500d', 'write it as in 30d, or 12h for hours'),
  )
}
