import { readFile } from 'node:fs/promises'
import type { Server } from 'node:http'
import { type AddressInfo, BlockList, isIP } from 'node:net'
import { lookup } from 'node:dns/promises'
import { type HttpLog, createAddressSet } from '@holdfast/http-koa'
import { advice, SetupError, type Advice, adviceOf, asSentence } from '@holdfast/core'
import { createLineLimit } from './log/lines.ts'
import type { Config } from './config/resolve-config.ts'

/** How many files a process has open besides connections and requests: the log, the trail, the store, the admin port. */
const reserve = 128

/** How many files a request has open besides its connection: its file, and one more to publish it. */
const perRequest = 2

/**
 * How many connections may be open, so that enough of `openFiles` descriptors are left for `maxRequests` requests on them. If there
 * are not enough for so many requests, there are enough for one request on each connection.
 */
export function connectionsWithin(openFiles: number, maxRequests: number): number {
  const left = openFiles - reserve
  return Math.max(1, Math.floor(left / (1 + perRequest)), left - perRequest * maxRequests)
}

const minuteMs = 60_000

/**
 * Makes `server` close connections beyond `limit` at once, before anything is read from them. The first one in a minute is logged at
 * once, the number of the others at the end of the minute.
 */
export function limitConnections(server: Server, limit: number, log: HttpLog): void {
  const report = (closed: number) =>
    log.warn({ limit, closed }, 'connections beyond the limit were closed at once')
  const lines = createLineLimit({ perWindow: 1, windowMs: minuteMs, onOmitted: report })
  server.maxConnections = limit
  server.on('drop', () => {
    if (lines.admit()) report(1)
  })
  server.once('close', lines.flush)
}

/** How many files and connections this process may have open; `undefined` if the system does not show that; Linux does. */
export async function openFilesLimit(): Promise<number | undefined> {
  // Node.js has raised the soft limit to the hard one.
  const limits = await readFile('/proc/self/limits', 'utf8').catch(() => '')
  const [, limit] = /^Max open files +(\d+|unlimited)/m.exec(limits) ?? []
  return limit === undefined ? undefined : Number(limit.replace('unlimited', 'Infinity'))
}

/** Where to listen. */
export interface ListeningAddress {
  readonly host: string
  readonly port: number
  /** The prefix of the settings for `host` and `port`. Default: none. */
  readonly prefix?: 'admin-'
}

/**
 * Where the admin server listens; `undefined` if the configuration has no admin port.
 *
 * @throws SetupError if it is the port of the customers
 */
export function adminAddress(config: Config): ListeningAddress | undefined {
  const { 'admin-port': port, 'admin-host': host } = config
  if (port === undefined) return undefined
  if (port === config.port && port !== 0) {
    throw new SetupError(
      `The ports for customers (--port) and for administration (--admin-port) are both ${port}`,
      ['choose another one.'],
    )
  }
  return { host, port, prefix: 'admin-' }
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
async function isLoopback(host: string): Promise<boolean> {
  // The address that is used. An unknown name is refused elsewhere.
  const { address } = await lookup(host).catch(() => ({ address: host }))
  return isIP(address) !== 0 && loopback.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4')
}

/**
 * Makes a function that checks whether an IP address belongs to the `members` of a setting: addresses and subnets. `check` may
 * refuse further members by a RangeError. The message begins with `setting`, such as `The trusted proxies (--trust-proxy)`.
 *
 * @throws SetupError for a wrong member
 */
export function addressSetOf(
  setting: string,
  members: readonly string[],
  check: (member: string) => void = () => {},
): (address: string) => boolean {
  try {
    members.forEach(check)
    return createAddressSet(members)
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    const { problem, remedies } = adviceOf(error)
    const said = asSentence({ problem: `${setting} are wrong: ${problem}`, remedies })
    throw new SetupError(said.problem, said.remedies)
  }
}

/**
 * The proxies that the configuration names, none by default.
 *
 * @throws SetupError if one is neither an address nor a subnet
 */
export function checkProxies({ 'trust-proxy': proxies = [] }: Config): readonly string[] {
  addressSetOf('The trusted proxies (--trust-proxy)', proxies)
  return proxies
}
