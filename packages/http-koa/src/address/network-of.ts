import { isIPv6, SocketAddress } from 'node:net'

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
