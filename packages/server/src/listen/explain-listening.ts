import { type AddressInfo, BlockList, isIP } from 'node:net'
import { lookup } from 'node:dns/promises'
import { advice, SetupError, type Advice } from '@holdfast/core'
import type { Config } from '../config/resolve-config.ts'

/** Where to listen. */
export interface ListeningAddress {
  readonly host: string
  readonly port: number
  /** The prefix of the settings for `host` and `port`. Default: none. */
  readonly prefix?: 'admin-'
}

const reasons: Readonly<Record<string, (prefix: string) => Advice>> = {
  EADDRINUSE: (prefix) =>
    advice(
      'another program listens there',
      `Stop it, or choose another --${prefix}port (0 takes any free one).`,
    ),
  EACCES: (prefix) =>
    advice(
      'this user may not listen there',
      `Choose a --${prefix}port from 1024, or allow this program to listen there.`,
    ),
  EADDRNOTAVAIL: (prefix) =>
    advice('this machine does not have the address', `Choose another --${prefix}host.`),
  ENOTFOUND: (prefix) => advice('the host name is unknown', `Choose another --${prefix}host.`),
}

/** The error that says why the server cannot listen, with the remedy; `error` itself if its code is unknown. */
export function explainListening(
  error: unknown,
  { host, port, prefix }: ListeningAddress,
): unknown {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  const reason = reasons[code]?.(prefix ?? '')
  if (reason === undefined) return error
  return new SetupError(`Cannot listen on ${host} port ${port}: ${reason.problem}`, reason.remedies)
}

/** The URL of a server whose `address()` is `bound`, such as `http://127.0.0.1:3000`. */
export function listeningUrl(scheme: 'http' | 'https', bound: AddressInfo | string | null): string {
  const { address, family, port } = bound as AddressInfo
  return `${scheme}://${family === 'IPv6' ? `[${address}]` : address}:${port}`
}

const loopback = new BlockList()
loopback.addSubnet('127.0.0.0', 8)
loopback.addAddress('::1', 'ipv6')

/** A warning with its remedy if customers' passwords would cross a network unencrypted; otherwise `undefined`. */
export async function clearTextWarning(config: Config): Promise<Advice | undefined> {
  const { host, 'tls-cert': certificate, 'trust-proxy': proxies = [] } = config
  if (certificate !== undefined || proxies.length > 0 || (await isLoopback(host))) return undefined
  return advice(
    `Passwords and files cross the network unencrypted: --host ${host} is not only this machine`,
    'Give --tls-cert and --tls-key',
    'or put a proxy with TLS in front, and name it with --trust-proxy',
    'or listen on 127.0.0.1',
  )
}

/** Whether connections to `host`, a name or an address, stay on this machine. */
export async function isLoopback(host: string): Promise<boolean> {
  // The address that is used. An unknown name is refused elsewhere.
  const { address } = await lookup(host).catch(() => ({ address: host }))
  return isIP(address) !== 0 && loopback.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4')
}
