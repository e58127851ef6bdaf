import { FileServiceError, isFileServiceError } from '../errors.ts'
import type { FailureCount, FailureCounter } from '../ports/failure-counter.ts'
import { createKeyedLock } from './keyed-lock.ts'
import { createTally } from './tally.ts'
import { createWaitingPlaces } from './waiting-places.ts'

export interface LoginBrakeOptions {
  /** Where failures are counted. Its window is how long a brake holds. */
  readonly counter: FailureCounter
  /** Failures of one address, whatever the names, before it is refused. Default: 30. */
  readonly failuresPerAddress?: number
  /** Failures on one name, whatever the addresses, before addresses that took part are refused. Default: 10. */
  readonly failuresPerName?: number
  /** Addresses whose attempts are neither counted nor refused nor kept waiting. Default: none. */
  readonly isExempt?: (address: string) => boolean
  /** Attempts of one address that may wait; one more is refused as `overloaded`. Default: 200. */
  readonly waitingPerAddress?: number
  /**
   * Attempts of all addresses that may wait. Beyond that an address has ten at most, so that others do not keep it out.
   * Default: 1,000.
   */
  readonly waiting?: number
}

/** Who tries to log in, and where from. */
export interface LoginAttempt {
  readonly name: string
  readonly address: string
  /** Aborts while the attempt waits: it leaves, with the signal's reason, when its turn comes. */
  readonly signal?: AbortSignal | undefined
}

/** Refuses logins after too many failures. */
export interface LoginBrake {
  /**
   * What `verify` says, once it may be called: while as many attempts are under way as failures are still allowed,
   * the attempt waits, and is judged anew when one of them has ended. `false` counts as a failure, before it is given
   * back. So does, but for the address alone, what `verify` gives up: by `overloaded`, or when `signal` has aborted.
   * What else it rejects with does not.
   *
   * @throws FileServiceError with `retryAfterMs`, `verify` uncalled: `too-many-attempts`; `overloaded` where too many wait
   */
  attempt(attempt: LoginAttempt, verify: Verify): Promise<boolean>
}

type Verify = () => boolean | Promise<boolean>

/** A brake that never holds. */
export const noLoginBrake: LoginBrake = {
  attempt: async (_attempt, verify) => verify(),
}

/**
 * A brake that refuses an address after `failuresPerAddress` failures, and on a name that was failed `failuresPerName`
 * times, every address that has failed on that name. So a stranger who guesses at a customer's password, from however
 * many addresses, is slowed to a few guesses an address, while the customer, who comes from an address without
 * failures, still gets in. Unknown names are counted like known ones: the brake tells nobody who exists.
 *
 * Attempts under way count as the failures that they may become, so a thousand guesses at once are no more than the
 * same guesses one after another; only one attempt of an address on a name is never kept waiting for other addresses.
 * Attempts of one address that have to wait go in the order in which they came; so many may, and no more. An attempt that
 * is right at once, as with a password that is remembered, needs no place, unless others of its address wait.
 */
export function createLoginBrake({
  counter,
  failuresPerAddress = 30,
  failuresPerName = 10,
  isExempt = () => false,
  waitingPerAddress = 200,
  waiting = 1_000,
}: LoginBrakeOptions): LoginBrake {
  const underWay = createTally()
  const places = createWaitingPlaces(waitingPerAddress, waiting)
  const line = createKeyedLock()
  // What wakes the first in the line of an address.
  const wake = new Map<string, (nothing: undefined) => void>()
  let failed = 0

  /** What the counter says of the three keys; at once, where it can. */
  const read = ({ address, name, both }: Keys): Counts | Promise<Counts> => {
    const byAddress = counter.read(address)
    const byName = counter.read(name)
    const byBoth = counter.read(both)
    if (byAddress instanceof Promise || byName instanceof Promise || byBoth instanceof Promise) {
      return Promise.all([byAddress, byName, byBoth])
    }
    return [byAddress, byName, byBoth]
  }

  /** How long nobody with these counts is let in; `undefined` where they may be. */
  const refusedFor = ([byAddress, byName, byBoth]: Counts): number | undefined => {
    if (byAddress.failures >= failuresPerAddress) return byAddress.forgottenInMs
    if (byName.failures < failuresPerName || byBoth.failures === 0) return undefined
    return Math.min(byName.forgottenInMs, byBoth.forgottenInMs)
  }

  const hasRoom = (keys: Keys, [byAddress, byName]: Counts): boolean =>
    byAddress.failures + underWay.count(keys.address) < failuresPerAddress &&
    (byName.failures + underWay.count(keys.name) < failuresPerName ||
      underWay.count(keys.both) === 0)

  const isFree = (keys: Keys, counts: Counts) =>
    refusedFor(counts) === undefined && hasRoom(keys, counts)

  const takePlace = (keys: Keys) => underWay.add(keys.address, keys.name, keys.both)

  /** Takes a place if there is one, in the same turn, so that no two take the same. */
  const tryEnter = async (keys: Keys, reading = read(keys)): Promise<boolean> => {
    const failedBefore = failed
    const counts = await reading
    // A failure may have been counted since the counter was read, and its place be free already.
    if (failed !== failedBefore) return tryEnter(keys)
    const retryAfterMs = refusedFor(counts)
    if (retryAfterMs !== undefined) {
      throw new FileServiceError('too-many-attempts', 'Too many failed logins', { retryAfterMs })
    }
    if (!hasRoom(keys, counts)) return false
    takePlace(keys)
    return true
  }

  const lineUp = async (keys: Keys, signal: AbortSignal | undefined) => {
    const leavePlace = places.take(keys.address)
    const leaveLine = await line(keys.address)
    try {
      while (true) {
        signal?.throwIfAborted()
        // Before judging: an end meanwhile is not to be missed.
        const { promise: end, resolve } = Promise.withResolvers<undefined>()
        wake.set(keys.address, resolve)
        if (await tryEnter(keys)) return
        await end
      }
    } finally {
      wake.delete(keys.address)
      leaveLine()
      leavePlace()
    }
  }

  const count = async (failures: readonly string[]) => {
    try {
      await Promise.all(failures.map((key) => counter.add(key)))
    } finally {
      // Here and no sooner: whoever reads the counter from now on finds the failures there.
      failed++
    }
  }

  const leave = (keys: Keys) => {
    underWay.remove(keys.address, keys.name, keys.both)
    wake.get(keys.address)?.(undefined)
  }

  /** What becomes of an attempt that has its place, which it leaves at the end. */
  const judge = async (keys: Keys, verify: Verify, signal: AbortSignal | undefined) => {
    let failures: readonly string[] = []
    try {
      const isRight = await verify()
      if (!isRight) failures = Object.values(keys)
      return isRight
    } catch (error) {
      // It may have been looked at: a verifier knows a password that it remembers at once, and has others wait. Not
      // the name's fault, or a flood would lock out the customers who cannot get in for it.
      if (isFileServiceError(error, 'overloaded') || signal?.aborted) failures = [keys.address]
      throw error
    } finally {
      if (failures.length > 0) await count(failures).finally(() => leave(keys))
      else leave(keys)
    }
  }

  return {
    async attempt({ name, address, signal }, verify) {
      if (isExempt(address)) return verify()
      const keys = keysOf(name, address)
      // Who finds somebody waiting lines up.
      const reading = wake.has(keys.address) ? undefined : read(keys)
      if (reading && !(reading instanceof Promise) && isFree(keys, reading)) {
        const verdict = settled(verify)
        // Known in the same turn, in which nobody else could have asked for its place: it is a request's time.
        if (verdict === true) return true
        takePlace(keys)
        return judge(keys, () => verdict, signal)
      }
      const hasEntered = reading !== undefined && (await tryEnter(keys, reading))
      if (!hasEntered) await lineUp(keys, signal)
      return judge(keys, verify, signal)
    },
  }
}

/** What `verify` says, or a rejection with what it throws. */
function settled(verify: Verify): boolean | Promise<boolean> {
  try {
    return verify()
  } catch (error) {
    return rejected(error)
  }
}

async function rejected(error: unknown): Promise<never> {
  throw error
}

type Counts = readonly [byAddress: FailureCount, byName: FailureCount, byBoth: FailureCount]

type Keys = Readonly<Record<'address' | 'name' | 'both', string>>

/** The name comes last, since it alone may contain anything. */
function keysOf(name: string, address: string): Keys {
  return { address: `address ${address}`, name: `name ${name}`, both: `both ${address} ${name}` }
}
