import { createRequire } from 'node:module'
import type KoaCors from '@koa/cors'
import type { Middleware } from 'koa'
import { isOrigin } from '../http/is-origin.ts'
import type { HoldfastState } from '../server/exchange.ts'

/** Headers of an answer that a script may read, besides those that browsers always allow. */
const exposed = [
  'Accept-Ranges',
  'Allow',
  'Content-Disposition',
  'Content-Length',
  'Content-Range',
  'ETag',
  'Link',
  'Location',
  'Repr-Digest',
  'Retry-After',
  'Tus-Checksum-Algorithm',
  'Tus-Extension',
  'Tus-Max-Size',
  'Tus-Resumable',
  'Tus-Version',
  'Upload-Complete',
  'Upload-Defer-Length',
  'Upload-ETag',
  'Upload-Expires',
  'Upload-Length',
  'Upload-Limit',
  'Upload-Metadata',
  'Upload-Offset',
  'x-request-id',
]

const daySeconds = 24 * 60 * 60

/**
 * Lets scripts of these origins, `*` for all, use the service from a browser (CORS). This middleware goes before the routes and
 * before `createErrors`, which keeps the headers that were set earlier. A browser never adds cookies, since there is no
 * Access-Control-Allow-Credentials.
 *
 * @throws RangeError for a text that is not an origin
 */
export function createCors(origins: readonly string[]): Middleware<HoldfastState> {
  for (const origin of origins) {
    if (!isOrigin(origin)) throw new RangeError(`"${origin}" is not an origin`)
  }
  const isOpen = origins.includes('*')
  const allowed = new Set(origins)
  // Loaded only now, since most servers do not need it.
  const koaCors = createRequire(import.meta.url)('@koa/cors') as typeof KoaCors
  return koaCors({
    origin(ctx) {
      if (isOpen) return '*'
      const origin = ctx.get('Origin')
      return allowed.has(origin) ? origin : ''
    },
    allowMethods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
    exposeHeaders: exposed,
    maxAge: daySeconds,
    keepHeadersOnError: false,
  })
}
