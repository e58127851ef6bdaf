import { advice, rangeErrorOf } from '@holdfast/core'
import { isOrigin } from '@holdfast/http-koa/is-origin'

/** Any text that is not empty. */
export const text = (value: string): string => {
  if (value === '') throw new RangeError('is empty')
  return value
}

/** One of `choices`. */
export const oneOf =
  <Choice extends string>(...choices: readonly Choice[]) =>
  (value: string): Choice => {
    const choice = choices.find((each) => each === value)
    if (choice === undefined) throw new RangeError(`is not one of ${choices.join(', ')}`)
    return choice
  }

/** A port to listen on. */
export const port = (value: string): number => {
  if (value.startsWith('tcp://')) {
    throw rangeErrorOf(
      advice(
        'was set by Kubernetes for a service called holdfast',
        'set enableServiceLinks: false in the pod, or give --port',
      ),
    )
  }
  if (!/^\d{1,5}$/.test(value) || Number(value) > 65_535) {
    throw rangeErrorOf(
      advice('is not a port', 'write a number from 0 to 65535, where 0 stands for any free one'),
    )
  }
  return Number(value)
}

/** A whole number from 1. */
export const count = (value: string): number => {
  if (!/^[1-9]\d{0,8}$/.test(value))
    throw new RangeError('is not a whole number from 1 to 999999999')
  return Number(value)
}

/** A number of processes. */
export const workers = (value: string): number => {
  if (!/^[1-9]\d?$/.test(value)) throw new RangeError('is not a whole number from 1 to 99')
  return Number(value)
}

/** `true`, `false`, `1` or `0`. */
export const truth = (value: string): boolean => {
  if (['true', '1'].includes(value)) return true
  if (['false', '0'].includes(value)) return false
  throw new RangeError('is neither true nor false')
}

/** The origin of a URL. Any URL that could contain a password is refused, since the endpoint may be logged later. */
export const endpoint = (value: string): string => {
  const url = URL.canParse(value) ? new URL(value) : undefined
  const isHttp = url?.protocol === 'http:' || url?.protocol === 'https:'
  if (!isHttp || url.href !== `${url.origin}/`) {
    throw rangeErrorOf(
      advice(
        'is not the address of a server',
        'write http://host:9000 or https://host:9000, without a path, and keys elsewhere',
      ),
    )
  }
  return url.origin
}

const sharedSchemes = [
  'redis',
  'rediss',
  'redis+sentinel',
  'rediss+sentinel',
  'redis+cluster',
  'rediss+cluster',
]

/**
 * The URL of Valkey or Redis, as it was written. Only its scheme is checked here, and that it has no password: whoever connects checks
 * the rest.
 */
export const sharedUrl = (value: string): string => {
  const [, scheme = '', rest = ''] = /^([^/]*):\/\/(.+)$/s.exec(value) ?? []
  if (!sharedSchemes.includes(scheme)) {
    throw rangeErrorOf(
      advice(
        'is not the address of Valkey or Redis',
        `write ${sharedSchemes.map((each) => `${each}://`).join(', ')}, such as rediss://host:6379`,
      ),
    )
  }
  // A password may contain slashes, so all before the last @ is looked at.
  if (rest.slice(0, rest.lastIndexOf('@') + 1).includes(':')) {
    throw rangeErrorOf(
      advice(
        'has a password, which the list of processes or a copy of the settings would show',
        'set HOLDFAST_SHARED_PASSWORD, or HOLDFAST_SHARED_PASSWORD_FILE with the path of a file that holds it',
      ),
    )
  }
  return value
}

/** What keys begin with. Braces are refused: in a cluster they decide which node has a key. */
export const keyPrefix = (value: string): string => {
  if (/^[\w.:-]{1,64}$/.test(value)) return value
  throw rangeErrorOf(
    advice('is not a prefix of keys', 'write 1 to 64 letters, digits, or any of . _ : -'),
  )
}

/** Texts, separated by commas. */
export const list = (value: string): readonly string[] =>
  value.split(',').map((item) => item.trim())

/** Origins as a browser writes them, or `*`, separated by commas. */
export const origins = (value: string): readonly string[] => {
  const wrong = list(value).find((origin) => !isOrigin(origin))
  if (wrong === undefined) return list(value)
  throw rangeErrorOf(
    advice(
      `has "${wrong}", which is not an origin`,
      'write https://host or https://host:8443, without a path, or * for all',
    ),
  )
}

/** `text` in quotes and in one line, for messages, without what may be the name and password of a URL, even of a misspelt one. */
export function quoted(text: string): string {
  const line = text.replaceAll(/[\r\n]+/g, ' ')
  return `"${line.replace(/^([a-z+]+:\/\/)?.*@/is, '$1…@')}"`
}

const factors: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 }
const factorsWithDays: typeof factors = { ...factors, d: 86_400_000 }

/** The longest time that a timer of Node takes, in milliseconds: about 24 days. */
const longestTimer = 2 ** 31 - 1
const longestPeriod = 1_000 * 86_400_000

/**
 * Reads a time as a person writes it, such as `500ms`, `30s`, `5m` or `2h`; in milliseconds.
 *
 * @throws RangeError with its remedy (see `adviceOf`) for any other text, and for times that are too long for a timer. The message
 *   can end a sentence (`is not a time …`).
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

/** As `parseDuration`, but also allows `0`, with or without a unit. */
export function parseDelay(text: string): number {
  return /^0\s*(ms|s|m|h)?$/.test(text.trim()) ? 0 : parseDuration(text)
}

/** As `parseDuration`, but for times without a timer: also in days, such as `7d`, up to 1000 days. */
export function parsePeriod(text: string): number {
  const ms = millisecondsOf(text, factorsWithDays)
  if (!(ms >= 1 && ms <= longestPeriod)) {
    throw rangeErrorOf(
      advice('is not a time between 1ms and 1000 days', 'write it as in 30m, 12h or 7d'),
    )
  }
  return Math.round(ms)
}

/**
 * Reads a moment, such as `2026-11-21T02:45:56Z`, or a period before now, such as `3d`; in milliseconds since 1970.
 *
 * @throws RangeError with its remedy (see `adviceOf`) for any other text
 */
export function parseTime(text: string): number {
  const time = /^\d{4}-\d\d-\d\d/.test(text) ? Date.parse(text) : NaN
  if (!Number.isNaN(time)) return time
  try {
    return Date.now() - parsePeriod(text)
  } catch {
    throw rangeErrorOf(
      advice(
        'is not a time',
        'write it as in 2026-11-21T02:45:56Z, or as a period before now, such as 3d',
      ),
    )
  }
}

/** The time in milliseconds; `NaN` if the text is not a number with one of the units. */
function millisecondsOf(text: string, units: Readonly<Record<string, number>>): number {
  const [, digits, unit = ''] = /^(\d{1,10}(?:\.\d{1,3})?)\s*(ms|s|m|h|d)$/.exec(text.trim()) ?? []
  return Number(digits) * (units[unit] ?? NaN)
}
