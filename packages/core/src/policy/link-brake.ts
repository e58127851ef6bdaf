import { FileServiceError } from '../model/errors.ts'
import { createKeyedCounter } from '../model/keyed-counter.ts'
import { requireCount, having, requireFunction, requireOptions } from '../model/require.ts'
import type { FailureCounter } from '../ports/failure-counter.ts'
import { createAttemptQueue } from './login-brake.ts'

export interface LinkBrakeOptions {
  /** Counts the failures. Its period is how long the brake refuses links. */
  readonly counter: FailureCounter
  /** How many wrong links of one address are allowed before all its links are refused. Default: 30. */
  readonly failuresPerAddress?: number
  /** Addresses whose links are neither counted nor refused. Default: none. */
  readonly isExempt?: (address: string) => boolean
}

/** The result of checking a link. `expired`: it was good, but has expired. */
export type LinkVerdict = 'good' | 'expired' | 'wrong'

/** Refuses the links of an address after too many wrong ones. */
export interface LinkBrake {
  /**
   * Resolves with whether `check` finds the link good. A wrong link is counted before it resolves.
   * @throws FileServiceError `too-many-attempts` with `retryAfterMs`; `check` is not called then
   */
  attempt(address: string, check: () => Promise<LinkVerdict>): Promise<boolean>
}

/** A brake that allows every attempt. */
export const noLinkBrake: LinkBrake = {
  attempt: async (_address, check) => (await check()) === 'good',
}

/**
 * A {@link LinkBrake} that counts by address, separately from logins: a web page may contain thirty wrong links, and its visitors
 * must still be able to log in.
 *
 * A link counts as wrong while it is being checked, so that a thousand concurrent links are limited as the same links one after
 * another. The others wait in the order of their arrival.
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
      // Since the counter was read, a wrong link may have been counted and its slot given back.
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
        // This key is never read. The call makes the answer take as long as for a wrong link: a difference would reveal that the
        // password has not changed.
        if (verdict === 'expired') await counter.add(`expired ${key}`)
        return verdict === 'good'
      } finally {
        underWay.change(key, -1)
        queue.wake(key)
      }
    },
  }
}
