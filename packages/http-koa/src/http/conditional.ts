import type { IncomingHttpHeaders } from 'node:http'
import type { BlobInfo } from '@holdfast/core'
import { problems } from './problems.ts'

/** The value of the ETag header for a file: a strong validator (RFC 9110 §8.8.3). */
export function etagOf(info: BlobInfo): string {
  return `"${info.etag}"`
}

/** Whether the request has a condition on the state of the file (RFC 9110 §13.1). */
export function isConditional(headers: IncomingHttpHeaders): boolean {
  return conditions.some((field) => headers[field] !== undefined)
}

const conditions = [
  'if-match',
  'if-none-match',
  'if-modified-since',
  'if-unmodified-since',
  'if-range',
]

/**
 * The result of the preconditions of a GET or HEAD for a file, in the order of RFC 9110 §13.2.2: `failed` (412),
 * `not-modified` (304) or `proceed`. Dates that cannot be read are ignored, as §13.1.3 and §13.1.4 demand.
 */
export function evaluatePreconditions(
  headers: IncomingHttpHeaders,
  info: BlobInfo,
): 'proceed' | 'not-modified' | 'failed' {
  const ifMatch = headers['if-match']
  const ifNoneMatch = headers['if-none-match']
  if (ifMatch !== undefined) {
    if (!listsTag(ifMatch, info, 'strong')) return 'failed'
  } else if (isModifiedSince(info, headers['if-unmodified-since']) === true) return 'failed'
  if (ifNoneMatch !== undefined) {
    if (listsTag(ifNoneMatch, info, 'weak')) return 'not-modified'
  } else if (isModifiedSince(info, headers['if-modified-since']) === false) return 'not-modified'
  return 'proceed'
}

/**
 * Whether a Range header is to be honoured: If-Range is absent, or is the file's entity tag. A date is no strong validator (RFC 9110 §8.8.2.2,
 * §13.1.5): the file may have been replaced within the second, and the parts of two files would become one.
 */
export function ifRangeHolds(headers: IncomingHttpHeaders, info: BlobInfo): boolean {
  const ifRange = headers['if-range']
  if (ifRange === undefined) return true
  return ifRange === etagOf(info)
}

const entityTag = /(?<=^|[\s,])(?:W\/)?"[\x21\x23-\x7e\x80-\xff]*"/g

function listsTag(header: string, info: BlobInfo, comparison: 'strong' | 'weak'): boolean {
  if (header.trim() === '*') return true
  const tag = etagOf(info)
  const tags = header.match(entityTag) ?? []
  return tags.some((each) => each === tag || (comparison === 'weak' && each === `W/${tag}`))
}

/** `undefined` when there is no date to compare with. */
function isModifiedSince(info: BlobInfo, date: string | undefined): boolean | undefined {
  const since = date === undefined ? undefined : parseHttpDate(date)
  return since === undefined ? undefined : wholeSeconds(info) > since
}

/** HTTP's dates have no fractions of a second. In milliseconds since the epoch. */
function wholeSeconds(info: BlobInfo): number {
  return Math.floor(info.modifiedAt.getTime() / 1000) * 1000
}

const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

const time = '(?<hour>[01]\\d|2[0-3]):(?<minute>[0-5]\\d):(?<second>[0-5]\\d|60)'
const month = `(?<month>${months.join('|')})`
const forms = [
  new RegExp(`^[A-Z][a-z]{2}, (?<day>\\d\\d) ${month} (?<year>\\d{4}) ${time} GMT$`),
  new RegExp(`^[A-Z][a-z]{5,8}, (?<day>\\d\\d)-${month}-(?<year>\\d\\d) ${time} GMT$`),
  new RegExp(`^[A-Z][a-z]{2} ${month} (?<day>[ \\d]\\d) ${time} (?<year>\\d{4})$`),
]

/**
 * The time of a date in one of HTTP's three forms (RFC 9110 §5.6.7), in milliseconds since the epoch; `undefined` for any other
 * text. `Date.parse` accepts many other texts, and reads the third form as local time.
 */
export function parseHttpDate(text: string, now: number = Date.now()): number | undefined {
  for (const form of forms) {
    const fields = form.exec(text)?.groups
    if (fields !== undefined) return toTime(fields, now)
  }
  return undefined
}

function toTime(fields: Readonly<Record<string, string>>, now: number): number | undefined {
  const { year = '', month = '', day, hour, minute, second } = fields
  const fullYear = year.length === 2 ? nearestYear(Number(year), now) : Number(year)
  const date = new Date(0)
  date.setUTCFullYear(fullYear, months.indexOf(month), Number(day))
  // A day that the month does not have rolls over into the next one.
  if (date.getUTCDate() !== Number(day)) return undefined
  return date.setUTCHours(Number(hour), Number(minute), Number(second))
}

/** The year is at most fifty years ahead, as RFC 9110 §5.6.7 demands. */
function nearestYear(twoDigits: number, now: number): number {
  const current = new Date(now).getUTCFullYear()
  const year = current - (current % 100) + twoDigits
  return year > current + 50 ? year - 100 : year
}

/**
 * Whether the request may only create a file and not replace one: `If-None-Match: *` (RFC 9110 §13.1.2).
 *
 * @throws HttpProblem 400 for a precondition that uploads do not support. If it were ignored, the upload could replace a file
 *   that the client wants to keep.
 */
export function isCreateOnly(headers: IncomingHttpHeaders): boolean {
  for (const name of ['if-match', 'if-unmodified-since'] as const) {
    if (headers[name] !== undefined) {
      throw problems.invalidHeader(name, 'uploads support only "If-None-Match: *"')
    }
  }
  const ifNoneMatch = headers['if-none-match']
  if (ifNoneMatch === undefined) return false
  if (ifNoneMatch.trim() === '*') return true
  throw problems.invalidHeader('if-none-match', 'uploads support only "*"')
}

/**
 * Refuses a deletion, a rename, a restore or an archive with a precondition.
 *
 * @throws HttpProblem 400 for a precondition. If it were ignored, a file that the client wants to keep could be gone; if it were
 *   checked first, another upload could replace the file between check and change.
 */
export function refuseConditions(
  headers: IncomingHttpHeaders,
  what: 'deletions' | 'renames' | 'restores' | 'archives' = 'deletions',
): void {
  for (const name of ['if-match', 'if-none-match', 'if-unmodified-since'] as const) {
    if (headers[name] !== undefined) {
      throw problems.invalidHeader(name, `${what} support no conditions`)
    }
  }
}
