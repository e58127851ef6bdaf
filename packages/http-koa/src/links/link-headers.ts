import type { RawHeaders } from '../answer/file-headers.ts'
import { mediaTypeOf } from '../answer/media-type.ts'

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
