import type { RawHeaders } from '../answer/file-headers.ts'
import { mediaTypeOf } from '../answer/media-type.ts'

/** What browsers show without running anything of it, so that it may be shown; a picture in SVG, for one, has scripts. */
const harmless =
  /^(?:image\/(?:avif|bmp|gif|jpeg|png|webp|x-icon|vnd\.microsoft\.icon)|audio\/.+|video\/.+|text\/plain|application\/pdf)$/u

/**
 * What is different of a file that a link serves: pages of all origins may show it, since whoever has the link has the file;
 * and pages that it leads to do not learn the link. `disposition` is that of the file as an attachment.
 */
export function linkHeaders(name: string, inline: boolean, disposition: string): RawHeaders {
  const [type = ''] = mediaTypeOf(name).split(';')
  const isShown = inline && harmless.test(type)
  return [
    'Cross-Origin-Resource-Policy',
    'cross-origin',
    'Referrer-Policy',
    'no-referrer',
    ...(isShown ? ['Content-Disposition', disposition.replace(/^attachment/u, 'inline')] : []),
  ]
}
