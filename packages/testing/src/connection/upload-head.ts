import { credentials } from '../site.ts'

/** The headers of a raw upload of `size` bytes as the customer of the site, ready for the body. */
export function uploadHead(name: string, size: number, extra: readonly string[] = []): string {
  const lines = Object.entries(credentials).map(([header, value]) => `${header}: ${value}`)
  return [
    `PUT /upload/${name} HTTP/1.1`,
    'Host: holdfast',
    `Content-Length: ${size}`,
    ...lines,
    ...extra,
    '\r\n',
  ].join('\r\n')
}
