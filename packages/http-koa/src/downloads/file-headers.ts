import type { ServerResponse } from 'node:http'
import { extname } from 'node:path'
import type { BlobInfo } from '@holdfast/core'
import { contentType } from 'mime-types'
import { etagOf } from '../http/conditional.ts'

/** Name, value, name, value and so on, as `writeHead` takes headers. */
export type RawHeaders = readonly string[]

/** The headers by which a client can ask later whether the file has changed, and not download the same content twice. */
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
 * The value of Last-Modified. A future time, which a clock that was ahead has left, must not be sent (RFC 9110 §8.8.2.1).
 * Preconditions compare with the stored time: otherwise two contents that were sent with the same date would look unchanged.
 */
function lastModifiedOf({ modifiedAt }: BlobInfo): string {
  return new Date(Math.min(modifiedAt.getTime(), Date.now())).toUTCString()
}

/**
 * The headers that are sent with the content of every file. A file is data of a customer, who may be hostile: no browser may run
 * it as a page of this origin.
 */
export const contentHeaders: RawHeaders = [
  'Accept-Ranges',
  'bytes',
  'X-Content-Type-Options',
  'nosniff',
  'Content-Security-Policy',
  'sandbox',
  // If an application that embeds the routes logs in by cookies, pages of other origins could load files as scripts.
  'Cross-Origin-Resource-Policy',
  'same-origin',
]

export function setHeaders(response: ServerResponse, headers: RawHeaders): void {
  for (let index = 0; index < headers.length; index += 2) {
    response.setHeader(headers[index] ?? '', headers[index + 1] ?? '')
  }
}

/** Names that need no quoting and no second form in Content-Disposition. Most names are so. */
const plainName = /^[\w.-]+$/

export function isPlainName(name: string): boolean {
  return plainName.test(name)
}

/** The Content-Disposition of a plain name (RFC 6266). */
export function plainDisposition(name: string): string {
  return `attachment; filename="${name}"`
}

/** A cache of media types by extension: `contentType` takes longer. */
const known = new Map<string, string>()

/** Limits the cache, since names can have any extension; there are fewer in use than this. */
const maxKnown = 1_000

/** The media type of a file by its extension, from the table that Koa uses; `application/octet-stream` for others. */
export function mediaTypeOf(name: string): string {
  const extension = extname(name)
  const seen = known.get(extension)
  if (seen !== undefined) return seen
  const type = contentType(extension) || 'application/octet-stream'
  if (known.size < maxKnown) known.set(extension, type)
  return type
}

/** Types that browsers can show without running anything in the file. An SVG image is not among them: it may have scripts. */
const harmless =
  /^(?:image\/(?:avif|bmp|gif|jpeg|png|webp|x-icon|vnd\.microsoft\.icon)|audio\/.+|video\/.+|text\/plain|application\/pdf)$/u

/** Types that pages load as scripts, styles or data by their URL. */
const usedByPages =
  /^(?:(?:text|application)\/(?:[\w.-]*(?:java|ecma)script|css|wasm|json|[\w.+-]+\+json))$/u

/**
 * Replaces `sandbox`, under which WebKit shows no PDF. Because of `nosniff` the file cannot become a page; viewers run the
 * scripts of a PDF in their own origins, and this policy forbids scripts in the page around it.
 */
const pdfPolicy = "script-src 'none'; base-uri 'none'; form-action 'none'"

/**
 * The headers that differ when a link serves the file. Pages of all origins may show it, since everyone who has the link has the
 * file. Pages to which it leads do not learn the link. Pages do not run it, not even under a policy such as `script-src 'self'`:
 * with `nosniff`, `application/octet-stream` is not the type of a script. `disposition` is that of the file as an attachment.
 */
export function linkHeaders(name: string, inline: boolean, disposition: string): RawHeaders {
  const [type = ''] = mediaTypeOf(name).split(';')
  const isShown = inline && harmless.test(type)
  return [
    'Cross-Origin-Resource-Policy',
    'cross-origin',
    'Referrer-Policy',
    'no-referrer',
    ...(usedByPages.test(type) ? ['Content-Type', 'application/octet-stream'] : []),
    ...(isShown ? ['Content-Disposition', disposition.replace(/^attachment/u, 'inline')] : []),
    ...(isShown && type === 'application/pdf' ? ['Content-Security-Policy', pdfPolicy] : []),
  ]
}
