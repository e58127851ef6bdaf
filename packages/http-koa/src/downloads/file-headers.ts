import type { ServerResponse } from 'node:http'
import { extname } from 'node:path'
import type { BlobInfo } from '@holdfast/core'
import { contentType } from 'mime-types'
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

/** Types by extension: to look one up takes longer. */
const known = new Map<string, string>()

/** Names can have any extension; these are more than are in use. */
const maxKnown = 1_000

/** The media type of a file by its extension, of the table that Koa uses; for others, bytes of no type in particular. */
export function mediaTypeOf(name: string): string {
  const extension = extname(name)
  const seen = known.get(extension)
  if (seen !== undefined) return seen
  const type = contentType(extension) || 'application/octet-stream'
  if (known.size < maxKnown) known.set(extension, type)
  return type
}

/** What browsers show without running anything of it, so that it may be shown; a picture in SVG, for one, has scripts. */
const harmless =
  /^(?:image\/(?:avif|bmp|gif|jpeg|png|webp|x-icon|vnd\.microsoft\.icon)|audio\/.+|video\/.+|text\/plain|application\/pdf)$/u

/** What pages run, or are styled by, when they name its URL. */
const usedByPages =
  /^(?:(?:text|application)\/(?:[\w.-]*(?:java|ecma)script|css|wasm|json|[\w.+-]+\+json))$/u

/**
 * In place of `sandbox`, under which WebKit shows no PDF at all. `nosniff` keeps the file from being a page; viewers run a PDF's
 * scripts in origins of their own, and what they show it in runs none.
 */
const pdfPolicy = "script-src 'none'; base-uri 'none'; form-action 'none'"

/**
 * What is different of a file that a link serves: pages of all origins may show it, since whoever has the link has the file;
 * pages that it leads to do not learn the link; and with `nosniff` no page runs it, since it has the type of no script: a
 * policy such as `script-src 'self'` would allow it. `disposition` is that of the file as an attachment.
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
