import type { IncomingMessage } from 'node:http'
import { BlockList, isIP, isIPv6, SocketAddress } from 'node:net'
import { headerValues } from '../http/text.ts'
import type { HttpLog } from './errors.ts'

/** The client's IP address; empty if the connection has ended already. */
export type AddressOf = (request: IncomingMessage) => string

/**
 * An {@link AddressOf} that uses the entries of `X-Forwarded-For` that `trustedProxies` wrote: addresses, or subnets such as
 * `10.0.0.0/8`. Every proxy appends the address that it saw. So the last address that is not a trusted proxy's is the client's;
 * the client may have made up all entries before it. An entry may have a port, as in `198.51.100.5:40001` and
 * `[2001:db8::7]:443`. If an entry of a trusted proxy is not an address, that proxy's own address is used, and `onUnreadable` is
 * called for every such request. `onUntrusted` is called once: with the address of the first peer that sends `X-Forwarded-For`
 * and is not a trusted proxy.
 *
 * @throws RangeError for a text that is not an address or subnet; its message can end a sentence (`"x" is not …`)
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

/** The address in an entry of `X-Forwarded-For`, without the port after it and the brackets around IPv6. */
function addressIn(entry: string): string | undefined {
  if (isIP(entry) !== 0) return withoutMapping(entry)
  const [, ipv6, ipv4 = ''] = /^(?:\[([^\]]+)\](?::\d{1,5})?|([\d.]+):\d{1,5})$/.exec(entry) ?? []
  if (ipv6 !== undefined) return isIPv6(ipv6) ? withoutMapping(ipv6) : undefined
  return isIP(ipv4) === 0 ? undefined : ipv4
}

/** The address of the connection's peer. */
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
 * The part of an address that a client cannot change at will: the whole of an IPv4 address, or the first 64 bits of an IPv6
 * address, since a client usually has a whole network of 64 bits (RFC 6177 §2). IPv4 in IPv6 is IPv4; link-local addresses and
 * other strings stay as they are.
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
 * Makes a function that checks whether an IP address belongs to `members`: addresses, or subnets such as `10.0.0.0/8`. It
 * returns `false` for a text that is not an address.
 *
 * @throws RangeError for a member that is not an address or subnet; its message can end a sentence (`"x" is not …`)
 */
export function createAddressSet(members: readonly string[]): (address: string) => boolean {
  // The set is usually empty, and checked at every login: an empty `BlockList` would still parse the address.
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

/** The first part of this server's URLs as the client of a request sees them; has no host if the request has none. */
export type OriginOf = (request: IncomingMessage) => string

/**
 * An {@link OriginOf} by the request's `Host`. If one of `trustedProxies` sent the request, its last `X-Forwarded-Proto` (in any
 * case), `X-Forwarded-Host` and `X-Forwarded-Prefix` (with or without a slash at its end) are used. A value that cannot be a
 * part of a URL is ignored, and `onUnreadable` is called for every such request.
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

/** Called with the name of a trusted proxy's header that cannot be read, such as `X-Forwarded-For`, and with its value. */
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
