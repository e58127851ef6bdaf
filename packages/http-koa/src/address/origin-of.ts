import type { IncomingMessage } from 'node:http'
import { createAddressSet } from './address-set.ts'
import { remoteAddress } from './address-of.ts'
import { headerValues } from '../http/header-values.ts'
import type { OnUnreadableHeader } from './unreadable-headers.ts'

/** The beginning of this server's URLs as the client of a request sees them; empty if the request has no host. */
export type OriginOf = (request: IncomingMessage) => string

/**
 * An {@link OriginOf} by the request's `Host`. Of one of `trustedProxies` the last `X-Forwarded-Proto` (in any case),
 * `X-Forwarded-Host` and `X-Forwarded-Prefix` (with or without a slash at its end) count. One that cannot be a part of a
 * URL is passed over, and `onUnreadable` is called for every such request.
 *
 * @throws RangeError as `createAddressOf` does
 */
export function createOriginOf(
  trustedProxies: readonly string[] = [],
  onUnreadable: OnUnreadableHeader = () => {},
): OriginOf {
  const isTrusted = createAddressSet(trustedProxies)
  return (request) => {
    const isTls = 'encrypted' in request.socket
    const own = { scheme: isTls ? 'https' : 'http', host: request.headers.host ?? '', path: '' }
    if (!isTrusted(remoteAddress(request))) return originFrom(own)
    const given = (header: string, form: RegExp) => {
      const value = headerValues(request, header.toLowerCase()).at(-1)?.split(',').at(-1)?.trim()
      if (value === undefined || form.test(value)) return value
      onUnreadable(header, value)
      return undefined
    }
    return originFrom({
      scheme: given('X-Forwarded-Proto', /^https?$/iu)?.toLowerCase() ?? own.scheme,
      host:
        given('X-Forwarded-Host', /^[\w.~-]+(?::\d{1,5})?$|^\[[\da-f:.]+\](?::\d{1,5})?$/iu) ??
        own.host,
      path: given('X-Forwarded-Prefix', /^(?:\/[\w.~%-]+)*\/?$/u)?.replace(/\/$/u, '') ?? '',
    })
  }
}

function originFrom({ scheme, host, path }: Record<'scheme' | 'host' | 'path', string>): string {
  return host === '' ? path : `${scheme}://${host}${path}`
}
