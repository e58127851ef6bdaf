import { SetupError } from '@holdfast/core'
import { createAddressOf } from '@holdfast/http-koa'
import type { Config } from '../config/resolve-config.ts'

/**
 * The proxies that the configuration names, none by default.
 *
 * @throws SetupError if one is neither an address nor a subnet
 */
export function checkProxies({ 'trust-proxy': proxies = [] }: Config): readonly string[] {
  try {
    createAddressOf(proxies)
    return proxies
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    throw new SetupError(`The trusted proxies (--trust-proxy) are wrong: ${error.message}.`)
  }
}
