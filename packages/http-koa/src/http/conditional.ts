import type { IncomingHttpHeaders } from 'node:http'
import type { BlobInfo } from '@holdfast/core'
import { parseHttpDate } from './http-date.ts'

/** The value of the ETag header for a file: a strong validator (RFC 9110 §8.8.3). */
export function etagOf(info: BlobInfo): string {
  return `"${info.etag}"`
}

/** Whether the answer depends on what the client has already (RFC 9110 §13.1). */
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
 * What the preconditions of a GET or HEAD say of a file, in the order of RFC 9110 §13.2.2: `failed` (412),
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
 * Whether a Range header is to be honoured: If-Range is absent, or is the file's strong validator or its exact date
 * (RFC 9110 §13.1.5).
 */
export function ifRangeHolds(headers: IncomingHttpHeaders, info: BlobInfo): boolean {
  const ifRange = headers['if-range']
  if (ifRange === undefined) return true
  if (typeof ifRange !== 'string') return false
  if (ifRange.startsWith('"') || ifRange.startsWith('W/')) return ifRange === etagOf(info)
  return parseHttpDate(ifRange) === wholeSeconds(info)
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
