import { adviceOf, asSentence, SetupError } from '@holdfast/core'
import { createAddressSet } from '@holdfast/http-koa'
import type { Config } from '../config/resolve-config.ts'

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
