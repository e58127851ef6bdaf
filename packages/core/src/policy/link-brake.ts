import { FileServiceError } from '../model/errors.ts'
import { createKeyedCounter } from '../model/keyed-counter.ts'
import { requireCount, having, requireFunction, requireOptions } from '../model/require.ts'
import type { FailureCounter } from '../ports/failure-counter.ts'
import { createAttemptQueue } from './login-brake.ts'

export interface LinkBrakeOptions {
  /** Where failures are counted. Its window is how long the brake holds. */
  readonly counter: FailureCounter
  /** Links of one address that may be wrong before its links are refused. Default: 30. */
  readonly failuresPerAddress?: number
  /** Addresses whose links are neither counted nor refused. Default: none. */
  readonly isExempt?: (address: string) => boolean
}

/** What a link has turned out to be. `expired`: it was good, and is not any more. */
export type LinkVerdict = 'good' | 'expired' | 'wrong'

/** Refuses links of an address after too many that were wrong. */
export interface LinkBrake {
  /**
   * Resolves to whether `check` finds the link good. A wrong link is counted before that.
   * @throws FileServiceError `too-many-attempts` with `retryAfterMs`, `check` uncalled
   */
  attempt(address: string, check: () => Promise<LinkVerdict>): Promise<boolean>
}

/** A brake that allows every attempt. */
export const noLinkBrake: LinkBrake = {
  attempt: async (_address, check) => (await check()) === 'good',
}

/**
 * A {@link LinkBrake} that counts by address, apart from logins. A page on the web may have thirty wrong links in it, and
 * its visitors must still be able to log in.
 *
 * Links that are being judged count as wrong ones until they have been judged, so that a thousand at once are limited like
 * the same links one after another. The others wait in the order of their arrival.
 */
export function createLinkBrake(options: LinkBrakeOptions): LinkBrake {
  requireOptions('createLinkBrake({ counter })', options, {
    counter: having('read', 'add'),
    'failuresPerAddress?': (what, value) => requireCount(what, value, 'failures'),
    'isExempt?': requireFunction,
  })
  const { counter, failuresPerAddress = 30, isExempt = () => false } = options
  const underWay = createKeyedCounter()
  const queue = createAttemptQueue()

  const enter = (key: string) =>
    queue.enter(key, async (isOutdated) => {
      const { failures, forgottenInMs } = await counter.read(key)
      // A wrong link may have been counted since the counter was read, and its place be free already.
      if (isOutdated()) return false
      if (failures >= failuresPerAddress) {
        throw new FileServiceError('too-many-attempts', 'Too many wrong links', {
          retryAfterMs: forgottenInMs,
        })
      }
      if (failures + underWay.count(key) >= failuresPerAddress) return false
      underWay.change(key, 1)
      return true
    })

  return {
    async attempt(address, check) {
      if (isExempt(address)) return (await check()) === 'good'
      const key = `link ${address}`
      await enter(key)
      try {
        const verdict = await check()
        if (verdict === 'wrong') await counter.add(key)
        // Under a key that is never read, so that it takes the time of a wrong link: it would show that the password is the same.
        if (verdict === 'expired') await counter.add(`expired ${key}`)
        return verdict === 'good'
      } finally {
        underWay.change(key, -1)
        queue.wake(key)
      }
    },
  }
}
