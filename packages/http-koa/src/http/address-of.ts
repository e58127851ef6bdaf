import type { IncomingMessage } from 'node:http'
import { BlockList, isIP } from 'node:net'
import { headerValues } from './header-values.ts'

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
  const proxies = new BlockList()
  for (const proxy of trustedProxies) add(proxies, proxy)
  const isTrusted = (address: string) =>
    isIP(address) !== 0 && proxies.check(address, familyOf(address))

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

function add(proxies: BlockList, proxy: string): void {
  const [address = '', prefix, ...more] = proxy.split('/')
  const bits = isIP(address) === 6 ? 128 : 32
  const length = prefix === undefined ? bits : Number(prefix)
  const isLength = /^\d{1,3}$/.test(prefix ?? '0') && length <= bits
  if (isIP(address) === 0 || !isLength || more.length > 0) {
    throw new RangeError(
      `"${proxy}" is not an address, such as 10.1.2.3, or a subnet, such as 10.0.0.0/8`,
    )
  }
  proxies.addSubnet(address, length, familyOf(address))
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIP(address) === 6 ? 'ipv6' : 'ipv4'
}

/** A socket that listens on all of IPv6 shows IPv4 as `::ffff:127.0.0.1` (RFC 4291 §2.5.5.2). */
function withoutMapping(address: string): string {
  if (!address.startsWith('::')) return address
  const mapped = /^::ffff:(?=\d+\.)/i
  return address.replace(mapped, '')
}
