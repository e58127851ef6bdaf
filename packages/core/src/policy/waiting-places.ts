import { FileServiceError } from '../model/errors.ts'
import { createKeyedCounter } from '../model/keyed-counter.ts'

/** How many of an address may wait however many others do. */
const always = 10

/** When there may be room again, in milliseconds. */
const retryAfterMs = 1_000

/** Bounds how many wait, of each address and in all. */
export interface WaitingPlaces {
  /**
   * Takes a place; the result leaves it.
   *
   * @throws FileServiceError `overloaded` where there is none
   */
  take(address: string): () => void
}

/** {@link WaitingPlaces} for `perAddress` of one address, and `inAll`; beyond that an address has ten at most. */
export function createWaitingPlaces(perAddress: number, inAll: number): WaitingPlaces {
  const taken = createKeyedCounter()
  let all = 0
  return {
    take(address) {
      const most = all < inAll ? perAddress : Math.min(perAddress, always)
      if (taken.count(address) >= most) {
        throw new FileServiceError('overloaded', `${all} logins are waiting already`, {
          retryAfterMs,
        })
      }
      taken.change(address, 1)
      all++
      return () => {
        taken.change(address, -1)
        all--
      }
    },
  }
}
