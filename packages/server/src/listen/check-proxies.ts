import type { Config } from '../config/resolve-config.ts'
import { addressSetOf } from './address-set-of.ts'

/**
 * The proxies that the configuration names, none by default.
 *
 * @throws SetupError if one is neither an address nor a subnet
 */
export function checkProxies({ 'trust-proxy': proxies = [] }: Config): readonly string[] {
  addressSetOf('The trusted proxies (--trust-proxy)', proxies)
  return proxies
}
