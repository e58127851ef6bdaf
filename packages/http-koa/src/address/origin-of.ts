import type { IncomingMessage } from 'node:http'
import { createAddressSet } from './address-set.ts'
import { remoteAddress } from './address-of.ts'
import { headerValues } from '../http/header-values.ts'

/** The beginning of this server's URLs as the client of a request sees them; empty if the request has no host. */
export type OriginOf = (request: IncomingMessage) => string

/**
 * An {@link OriginOf} by the request's `Host`. Of one of `trustedProxies` the last `X-Forwarded-Proto`, `X-Forwarded-Host` and
 * `X-Forwarded-Prefix` count, if they can be parts of a URL.
 *
 * @throws RangeError as `createAddressOf` does
 */
export function createOriginOf(trustedProxies: readonly string[] = []): OriginOf {
  const isTrusted = createAddressSet(trustedProxies)
  return (request) => {
    const isTls = 'encrypted' in request.socket
    const own = { scheme: isTls ? 'https' : 'http', host: request.headers.host ?? '', path: '' }
    if (!isTrusted(remoteAddress(request))) return originFrom(own)
    const given = (header: string, form: RegExp) => {
      const value = headerValues(request, header).at(-1)?.split(',').at(-1)?.trim() ?? ''
      return form.test(value) ? value : undefined
    }
    return originFrom({
      scheme: given('x-forwarded-proto', /^https?$/u) ?? own.scheme,
      host:
        given('x-forwarded-host', /^[\w.~-]+(?::\d{1,5})?$|^\[[\da-f:.]+\](?::\d{1,5})?$/iu) ??
        own.host,
      path: given('x-forwarded-prefix', /^(?:\/[\w.~%-]+)+$/u) ?? '',
    })
  }
}

function originFrom({ scheme, host, path }: Record<'scheme' | 'host' | 'path', string>): string {
  return host === '' ? path : `${scheme}://${host}${path}`
}
