import type { IncomingMessage } from 'node:http'
import { SocketAddress, isIP, isIPv6 } from 'node:net'
import { createAddressSet } from './address-set.ts'
import { headerValues } from '../http/header-values.ts'

/** Tells where a request comes from, as an IP address; empty when the connection is gone already. */
export type AddressOf = (request: IncomingMessage) => string

/**
 * An {@link AddressOf} that believes `X-Forwarded-For` as far as it was written by one of `trustedProxies`: addresses,
 * or subnets as in `10.0.0.0/8`. Every proxy adds the address that it saw at the end of the list; so the last one that
 * is no trusted proxy's is the client's, and whatever stands before it may be the client's own invention.
 *
 * @throws RangeError whose message ends a sentence (`"x" is not …`) for what is no address or subnet
 */
export function createAddressOf(trustedProxies: readonly string[] = []): AddressOf {
  if (trustedProxies.length === 0) return remoteAddress
  const isTrusted = createAddressSet(trustedProxies)

  return (request) => {
    const forwarded = headerValues(request, 'x-forwarded-for').join(',').split(',')
    let address = remoteAddress(request)
    while (isTrusted(address)) {
      const next = withoutMapping(forwarded.pop()?.trim() ?? '')
      if (isIP(next) === 0) break
      address = next
    }
    return address
  }
}

function remoteAddress({ socket }: IncomingMessage): string {
  return withoutMapping(socket.remoteAddress ?? '')
}

/** A socket that listens on all of IPv6 shows IPv4 as `::ffff:127.0.0.1` (RFC 4291 §2.5.5.2). */
function withoutMapping(address: string): string {
  if (!address.startsWith('::')) return address
  const mapped = /^::ffff:(?=\d+\.)/i
  return address.replace(mapped, '')
}

/**
 * What of an address one client cannot change at will: an IPv4 address as it is, of an IPv6 address the first 64 bits,
 * since whoever has one as a rule has all of that network (RFC 6177 §2), however it was spelt. IPv4 in IPv6 is IPv4;
 * link-local addresses and whatever is no address stay as they are.
 */
export function networkOf(address: string): string {
  if (!address.includes(':') || !isIPv6(address) || address.toLowerCase().startsWith('fe80:'))
    return address
  const { address: canonical } = new SocketAddress({ address, family: 'ipv6' })
  const mapped = /^::ffff:([\d.]+)$/.exec(canonical)?.[1]
  return mapped ?? `${firstGroups(canonical).join(':')}::/64`
}

function firstGroups(canonical: string): readonly string[] {
  const [head = [], tail = []] = canonical.split('::').map((part) => (part ? part.split(':') : []))
  const zeros = Array.from({ length: 8 - head.length - tail.length }, () => '0')
  return [...head, ...zeros, ...tail].slice(0, 4)
}
