import { adviceOf, asSentence, SetupError } from '@holdfast/core'
import { createAddressSet } from '@holdfast/http-koa'

/**
 * Whether an IP address is one of the `members` that a setting lists: addresses and subnets. `check` may refuse more members than
 * those that are no address, by a RangeError. `setting` begins the message, such as `The trusted proxies (--trust-proxy)`.
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
