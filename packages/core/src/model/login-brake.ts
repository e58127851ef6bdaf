import { FileServiceError } from '../errors.ts'
import type { FailureCounter } from '../ports/failure-counter.ts'

export interface LoginBrakeOptions {
  /** Where failures are counted. Its window is how long a brake holds. */
  readonly counter: FailureCounter
  /** Failures of one address, whatever the names, before it is refused. Default: 30. */
  readonly failuresPerAddress?: number
  /** Failures on one name, whatever the addresses, before addresses that took part are refused. Default: 10. */
  readonly failuresPerName?: number
}

/** Refuses logins after too many failures. */
export interface LoginBrake {
  /**
   * @throws FileServiceError `too-many-attempts` with `retryAfterMs`, while attempts on `name` from `address` are
   * refused.
   */
  check(name: string, address: string): Promise<void>
  recordFailure(name: string, address: string): Promise<void>
}

/** A brake that never holds. */
export const noLoginBrake: LoginBrake = { check: async () => {}, recordFailure: async () => {} }

/**
 * A brake that refuses an address after `failuresPerAddress` failures, and on a name that was failed `failuresPerName`
 * times, every address that has failed on that name. So a stranger who guesses at a customer's password, from however
 * many addresses, is slowed to a few guesses an address, while the customer, who comes from an address without
 * failures, still gets in. Unknown names are counted like known ones: the brake tells nobody who exists.
 */
export function createLoginBrake({
  counter,
  failuresPerAddress = 30,
  failuresPerName = 10,
}: LoginBrakeOptions): LoginBrake {
  return {
    async check(name, address) {
      const [byAddress, byName, byBoth] = await Promise.all(
        keysOf(name, address).map((key) => counter.read(key)),
      )
      if (byAddress && byAddress.failures >= failuresPerAddress) refuse(byAddress.forgottenInMs)
      if (byName && byBoth && byName.failures >= failuresPerName && byBoth.failures > 0) {
        refuse(Math.min(byName.forgottenInMs, byBoth.forgottenInMs))
      }
    },
    async recordFailure(name, address) {
      await Promise.all(keysOf(name, address).map((key) => counter.add(key)))
    },
  }
}

/** The name comes last, since it alone may contain anything. */
function keysOf(name: string, address: string): readonly string[] {
  return [`address ${address}`, `name ${name}`, `both ${address} ${name}`]
}

function refuse(retryAfterMs: number): never {
  throw new FileServiceError('too-many-attempts', 'Too many failed logins', { retryAfterMs })
}
