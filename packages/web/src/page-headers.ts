/**
 * Scripts and styles come from files of this server only, and no string becomes HTML or a script. Files of customers
 * are shown as images, sounds and films, which run nothing, or in frames whose type the page has chosen.
 */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' blob:",
  "media-src 'self' blob:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ')

/** The headers of the page, or of one of its assets, whose names change with their contents. */
export function pageHeaders(isPage: boolean): Readonly<Record<string, string>> {
  return {
    'Cache-Control': isPage ? 'no-cache' : 'public, max-age=31536000, immutable',
    'Content-Security-Policy': policy,
    'Cross-Origin-Opener-Policy': 'same-origin',
    'Cross-Origin-Resource-Policy': 'same-origin',
    'Referrer-Policy': 'no-referrer',
    'X-Content-Type-Options': 'nosniff',
  }
}
