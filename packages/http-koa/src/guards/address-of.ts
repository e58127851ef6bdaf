import type { IncomingMessage } from 'node:http'
import { BlockList, isIP, isIPv6, SocketAddress } from 'node:net'
import { headerValues } from '../http/text.ts'
import type { HttpLog } from './errors.ts'

/** The client's IP address; empty if the connection has gone already. */
export type AddressOf = (request: IncomingMessage) => string

/**
 * An {@link AddressOf} that uses the entries of `X-Forwarded-For` that were written by one of `trustedProxies`: addresses,
 * or subnets as in `10.0.0.0/8`. Every proxy appends the address that it saw. So the last address that is not a trusted
 * proxy's is the client's; the client may have made up all entries before it. An entry may have a port, as in
 * `198.51.100.5:40001` and `[2001:db8::7]:443`. Where a trusted proxy wrote an entry that is no address, the proxy's own
 * counts, and `onUnreadable` is called for every such request. `onUntrusted` is called with the other end of the first
 * connection that sends `X-Forwarded-For` and is no trusted proxy's.
 *
 * @throws RangeError whose message ends a sentence (`"x" is not …`) for what is no address or subnet
 */
export function createAddressOf(
  trustedProxies: readonly string[] = [],
  onUnreadable: OnUnreadableHeader = () => {},
  onUntrusted: (address: string) => void = () => {},
): AddressOf {
  const isTrusted = createAddressSet(trustedProxies)
  let hasWarned = false

  return (request) => {
    let address = remoteAddress(request)
    if (!isTrusted(address)) {
      if (!hasWarned && request.headers['x-forwarded-for'] !== undefined) {
        hasWarned = true
        onUntrusted(address)
      }
      return address
    }
    const forwarded = headerValues(request, 'x-forwarded-for').flatMap((value) => value.split(','))
    while (isTrusted(address)) {
      const entry = forwarded.pop()?.trim()
      if (entry === undefined) break
      const next = addressIn(entry)
      if (next === undefined) {
        onUnreadable('X-Forwarded-For', entry)
        break
      }
      address = next
    }
    return address
  }
}

/** The address in an entry of `X-Forwarded-For`; a port after it, and brackets around IPv6, are left out. */
function addressIn(entry: string): string | undefined {
  if (isIP(entry) !== 0) return withoutMapping(entry)
  const [, ipv6, ipv4 = ''] = /^(?:\[([^\]]+)\](?::\d{1,5})?|([\d.]+):\d{1,5})$/.exec(entry) ?? []
  if (ipv6 !== undefined) return isIPv6(ipv6) ? withoutMapping(ipv6) : undefined
  return isIP(ipv4) === 0 ? undefined : ipv4
}

/** The other end of the connection. */
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
 * The part of an address that a client cannot change at will: all of an IPv4 address, the first 64 bits of an IPv6
 * address, since a client usually has the whole network of 64 bits (RFC 6177 §2). IPv4 in IPv6 is IPv4; link-local
 * addresses and other strings stay as they are.
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

/**
 * Whether an IP address is one of `members`: addresses, or subnets as in `10.0.0.0/8`. What is no address is not.
 *
 * @throws RangeError whose message ends a sentence (`"x" is not …`) for what is no address or subnet
 */
export function createAddressSet(members: readonly string[]): (address: string) => boolean {
  // The usual set, asked at every login: an empty list would still parse the address.
  if (members.length === 0) return () => false
  const list = new BlockList()
  for (const member of members) add(list, member)
  return (address) => isIP(address) !== 0 && list.check(address, familyOf(address))
}

function add(list: BlockList, member: string): void {
  const [address = '', prefix, ...more] = member.split('/')
  const bits = isIP(address) === 6 ? 128 : 32
  const length = prefix === undefined ? bits : Number(prefix)
  const isLength = /^\d{1,3}$/.test(prefix ?? '0') && length <= bits
  if (isIP(address) === 0 || !isLength || more.length > 0) {
    throw new RangeError(
      `"${member}" is not an address, such as 10.1.2.3, or a subnet, such as 10.0.0.0/8`,
    )
  }
  list.addSubnet(address, length, familyOf(address))
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIP(address) === 6 ? 'ipv6' : 'ipv4'
}

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

/** Called with a header of a trusted proxy that has no meaning here, such as `X-Forwarded-For`, and with its value. */
type OnUnreadableHeader = (header: string, value: string) => void

const maxCharacters = 100

/** An {@link OnUnreadableHeader} that writes one warning for each header, with the first value that cannot be read. */
export function warnOfUnreadableHeaders(log: HttpLog): OnUnreadableHeader {
  const warned = new Set<string>()
  return (header, value) => {
    if (warned.has(header)) return
    warned.add(header)
    const isLong = value.length > maxCharacters
    const shown = isLong ? `${value.slice(0, maxCharacters)}…` : value
    log.warn({ header, value: shown }, 'A header of a trusted proxy cannot be read')
  }
}
