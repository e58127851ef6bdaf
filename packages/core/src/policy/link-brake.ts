import { requireCount, having, requireFunction, requireOptions } from '../model/require.ts'
import type { FailureCounter } from '../ports/failure-counter.ts'
import { createAttemptSlots, slotsOf } from './attempt-slots.ts'

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
 * another. The others wait in the order of their arrival. If several servers share the counter, each checks its share of the links
 * that may still be wrong; see `FailureCounter.sharers`.
 */
export function createLinkBrake(options: LinkBrakeOptions): LinkBrake {
  requireOptions('createLinkBrake({ counter })', options, {
    counter: having('read', 'add'),
    'failuresPerAddress?': (what, value) => requireCount(what, value, 'failures'),
    'isExempt?': requireFunction,
  })
  const { counter, failuresPerAddress = 30, isExempt = () => false } = options
  const slots = createAttemptSlots<readonly [address: string]>(counter, {
    refusedFor: ([{ failures, forgottenInMs }]) =>
      failures >= failuresPerAddress ? forgottenInMs : undefined,
    hasSlot: ([key], [{ failures }], underWay) =>
      underWay(key) < slotsOf(failuresPerAddress - failures, counter),
    refusal: 'Too many wrong links',
  })

  return {
    async attempt(address, check) {
      if (isExempt(address)) return (await check()) === 'good'
      const keys = [`link ${address}`] as const
      await slots.wait(keys)
      let failed: readonly string[] = []
      try {
        const verdict = await check()
        failed = failedKeys(keys, verdict)
        return verdict === 'good'
      } finally {
        await slots.leave(keys, failed)
      }
    },
  }
}

function failedKeys(keys: readonly [address: string], verdict: LinkVerdict): readonly string[] {
  if (verdict === 'good') return []
  // The key of an expired link is never read. It makes the answer take as long as for a wrong link: a difference would reveal that the
  // password has not changed.
  return verdict === 'wrong' ? keys : [`expired ${keys[0]}`]
}
