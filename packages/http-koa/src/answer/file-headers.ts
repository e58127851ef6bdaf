import type { ServerResponse } from 'node:http'
import type { BlobInfo } from '@holdfast/core'
import { etagOf } from '../http/conditional.ts'

/** Names of headers and their values in turn, as `writeHead` takes them. */
export type RawHeaders = readonly string[]

/** What a client needs to ask again without getting the same file twice. */
export function validatorHeaders(info: BlobInfo): RawHeaders {
  return [
    'ETag',
    etagOf(info),
    'Last-Modified',
    lastModifiedOf(info),
    'Cache-Control',
    'private, no-cache',
  ]
}

/**
 * The value of Last-Modified. A time to come, as a clock leaves it that was ahead, must not be sent (RFC 9110 §8.8.2.1). The
 * conditions keep the stored time: of two files that are sent with the same date, one would be taken for the other.
 */
function lastModifiedOf({ modifiedAt }: BlobInfo): string {
  return new Date(Math.min(modifiedAt.getTime(), Date.now())).toUTCString()
}

/**
 * What goes with the content of any file. A file is data of a customer, maybe a hostile one: no browser is to run it as
 * a page of this origin.
 */
export const contentHeaders: RawHeaders = [
  'Accept-Ranges',
  'bytes',
  'X-Content-Type-Options',
  'nosniff',
  'Content-Security-Policy',
  'sandbox',
  // Where an application that embeds the routes logs in by cookies, pages of others could take files for scripts.
  'Cross-Origin-Resource-Policy',
  'same-origin',
]

export function setHeaders(response: ServerResponse, headers: RawHeaders): void {
  for (let index = 0; index < headers.length; index += 2) {
    response.setHeader(headers[index] ?? '', headers[index + 1] ?? '')
  }
}

/** Names that need no quoting and no second form in Content-Disposition, which makes most of them. */
const plainName = /^[\w.-]+$/

export function isPlainName(name: string): boolean {
  return plainName.test(name)
}

/** The Content-Disposition of a plain name (RFC 6266). */
export function plainDisposition(name: string): string {
  return `attachment; filename="${name}"`
}
