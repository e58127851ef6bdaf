import { lookup } from 'node:dns/promises'
import { BlockList, isIP } from 'node:net'
import { advice, type Advice } from '@holdfast/core'
import type { Config } from '../config/resolve-config.ts'

const loopback = new BlockList()
loopback.addSubnet('127.0.0.0', 8)
loopback.addAddress('::1', 'ipv6')

/** A warning where customers' passwords would cross a network unencrypted, with what to do; or `undefined`. */
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

async function isLoopback(host: string): Promise<boolean> {
  // The address that the server will listen on. An unknown name is not for here to refuse.
  const { address } = await lookup(host).catch(() => ({ address: host }))
  return isIP(address) !== 0 && loopback.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4')
}
