import { FileServiceError, isFileServiceError } from '../model/errors.ts'
import { createKeyedCounter } from '../model/keyed-counter.ts'
import { createKeyedLock } from '../model/keyed-lock.ts'
import {
  requireCount,
  having,
  requireFunction,
  requireOptions,
  type OptionCheck,
} from '../model/require.ts'
import type { FailureCount, FailureCounter } from '../ports/failure-counter.ts'
import { createRecentValues } from './recent-values.ts'

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
  /** Attempts with equal name, address and password share one place while they wait. Without a password none is shared. */
  readonly password?: string
  /** Gives up a waiting attempt: it rejects with the signal's reason when its turn comes. */
  readonly signal?: AbortSignal | undefined
}

/** Refuses logins after too many failures. */
export interface LoginBrake {
  /**
   * Calls `verify` when the limits allow it, and resolves to its result. While as many attempts are under way as
   * failures are still allowed, the attempt waits, and is checked again when one of them has ended. `false` is counted
   * as a failure before the promise resolves. A rejection of `verify` with `overloaded`, or after `signal` has aborted,
   * counts as a failure of the address alone; other rejections do not count.
   *
   * @throws FileServiceError with `retryAfterMs`, `verify` uncalled: `too-many-attempts`; `overloaded` where too many wait
   */
  attempt(attempt: LoginAttempt, verify: Verify): Promise<boolean>
}

const requireLimit: OptionCheck = (what, value) => requireCount(what, value, 'attempts')

type Verify = () => boolean | Promise<boolean>

/** Attempts of one address, and of all, that may wait for an equal one: they cost little more than their connections. */
const waitingForEqual = { perAddress: 2_000, inAll: 10_000 }

/** Of what an address may still fail, one in so many is kept for the names that have logged in from there. */
const shareForKnown = 8

/** How many pairs of name and address are known, with their addresses. */
const maxKnown = 20_000

/** A brake that allows every attempt. */
export const noLoginBrake: LoginBrake = {
  attempt: async (_attempt, verify) => verify(),
}

/**
 * A brake with two rules. After `failuresPerAddress` failures it refuses the address. After `failuresPerName` failures on
 * a name it refuses every address that has failed on that name. So an attacker gets few guesses from each address, and
 * the customer, whose address has no failures, still logs in. Unknown names are counted like known ones: the brake does
 * not reveal which customers exist.
 *
 * Attempts under way count as failures until they have ended, so that a thousand guesses at once are limited like the same
 * guesses one after another. One attempt of each address on a name never waits for other addresses. The waiting attempts
 * of one address go in the order of their arrival; their number is bounded. An attempt that succeeds synchronously, as
 * with a remembered password, needs no place, unless others of its address wait. A name that has logged in from the
 * address, by a verification that took time or while others were under way, does not queue behind those: an eighth of the
 * places, rounded down, is kept for such names, so that their passwords may be compared meanwhile.
 *
 * Attempts of one address with equal name and password share one waiting place, so that a client may open a thousand
 * connections at once: when one of them is right, the others try again at once, and a verifier that remembers the password
 * accepts them. They never share a result: wrong ones run and count one after another, and each is compared with the
 * credential of its own moment. What the client sent decides alone which attempts are equal: the brake does not reveal
 * which customers exist.
 */
export function createLoginBrake(options: LoginBrakeOptions): LoginBrake {
  requireOptions('createLoginBrake({ counter })', options, {
    counter: having('read', 'add'),
    'failuresPerAddress?': requireLimit,
    'failuresPerName?': requireLimit,
    'isExempt?': requireFunction,
    'waitingPerAddress?': requireLimit,
    'waiting?': requireLimit,
  })
  const { counter, failuresPerAddress = 30, failuresPerName = 10, isExempt = () => false } = options
  const { waitingPerAddress = 200, waiting = 1_000 } = options
  const underWay = createKeyedCounter()
  const places = createWaitingPlaces(waitingPerAddress, waiting)
  const equalPlaces = createWaitingPlaces(waitingForEqual.perAddress, waitingForEqual.inAll)
  const sharePlace = createSharedPlace()
  const queue = createAttemptQueue()
  // Keys of addresses from which there was a right login, and of such names with their addresses.
  const known = createRecentValues<true>(maxKnown)
  let failed = 0

  /** The counts of the three keys; synchronous where the counter is. */
  const read = ({ address, name, both }: Keys): Counts | Promise<Counts> => {
    const byAddress = counter.read(address)
    const byName = counter.read(name)
    const byBoth = counter.read(both)
    if (byAddress instanceof Promise || byName instanceof Promise || byBoth instanceof Promise) {
      return Promise.all([byAddress, byName, byBoth])
    }
    return [byAddress, byName, byBoth]
  }

  /** Milliseconds for which attempts with these counts are refused; `undefined` where they are allowed. */
  const refusedFor = ([byAddress, byName, byBoth]: Counts): number | undefined => {
    if (byAddress.failures >= failuresPerAddress) return byAddress.forgottenInMs
    if (byName.failures < failuresPerName || byBoth.failures === 0) return undefined
    return Math.min(byName.forgottenInMs, byBoth.forgottenInMs)
  }

  /** How many places of the address are kept from this attempt. */
  const keptFrom = (keys: Keys, places: number): number =>
    places >= shareForKnown && known.get(keys.address) === true && known.get(keys.both) !== true
      ? Math.floor(places / shareForKnown)
      : 0

  const hasPlace = (keys: Keys, { failures }: FailureCount): boolean => {
    const taken = underWay.count(keys.address)
    const places = failuresPerAddress - failures
    return taken === 0 ? places > 0 : taken < places - keptFrom(keys, places)
  }

  const hasRoom = (keys: Keys, [byAddress, byName]: Counts): boolean =>
    hasPlace(keys, byAddress) &&
    (byName.failures + underWay.count(keys.name) < failuresPerName ||
      underWay.count(keys.both) === 0)

  const isFree = (keys: Keys, counts: Counts) =>
    refusedFor(counts) === undefined && hasRoom(keys, counts)

  const changePlaces = (keys: Keys, by: 1 | -1) => {
    underWay.change(keys.address, by)
    underWay.change(keys.name, by)
    underWay.change(keys.both, by)
  }

  /** Takes a place if one is free. Check and taking happen in one turn, so that no two attempts take the same place. */
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
    changePlaces(keys, 1)
    return true
  }

  const lineUp = async (keys: Keys, signal: AbortSignal | undefined) => {
    const leavePlace = places.take(keys.address)
    try {
      await queue.enter(keys.address, () => {
        signal?.throwIfAborted()
        return tryEnter(keys)
      })
    } finally {
      leavePlace()
    }
  }

  const count = async (failures: readonly string[]) => {
    try {
      await Promise.all(failures.map((key) => counter.add(key)))
    } finally {
      // Only now: a reader of the counter finds the failures from here on.
      failed++
    }
  }

  const leave = (keys: Keys) => {
    changePlaces(keys, -1)
    queue.wake(keys.address)
  }

  const remember = ({ address, both }: Keys) => {
    // Also where it is known: those who logged in last are kept.
    known.set(both, true)
    // Last, so that it is dropped after the names of the address.
    known.set(address, true)
  }

  /** Runs an attempt that has a place, counts its failure, and frees the place. */
  const judge = async (keys: Keys, verify: Verify, signal: AbortSignal | undefined) => {
    let failures: readonly string[] = []
    try {
      const isRight = await verify()
      if (isRight) remember(keys)
      else failures = Object.values(keys)
      return isRight
    } catch (error) {
      // The password may have been compared already: a verifier checks remembered passwords first, and queues others.
      // The name is not counted, or a flood of attempts would lock out the customer.
      if (isFileServiceError(error, 'overloaded') || signal?.aborted) failures = [keys.address]
      throw error
    } finally {
      if (failures.length > 0) await count(failures).finally(() => leave(keys))
      else leave(keys)
    }
  }

  const attempt = async (
    login: LoginAttempt,
    verify: Verify,
    isRetry: boolean,
  ): Promise<boolean> => {
    const { name, address, password, signal } = login
    if (isExempt(address)) return verify()
    const keys = keysOf(name, address)
    // If others of this address wait, queue behind them.
    const mustQueue = queue.has(keys.address) && !isRetry && known.get(keys.both) !== true
    const reading = mustQueue ? undefined : read(keys)
    if (reading && !(reading instanceof Promise) && isFree(keys, reading)) {
      const verdict = settled(verify)
      // The result came in this turn, in which no other attempt could have taken the place.
      if (verdict === true) {
        // No place is scarce otherwise, and to look up a new string costs as much as a counter.
        if (underWay.count(keys.address) > 0) remember(keys)
        return true
      }
      changePlaces(keys, 1)
      return judge(keys, () => verdict, signal)
    }
    const hasEntered = reading !== undefined && (await tryEnter(keys, reading))
    if (hasEntered) return judge(keys, verify, signal)
    const run = async () => {
      await lineUp(keys, signal)
      return judge(keys, verify, signal)
    }
    if (password === undefined) return run()
    return sharePlace(JSON.stringify([address, name, password]), {
      run,
      retry: () => attempt(login, verify, true),
      takePlace: () => equalPlaces.take(keys.address),
    })
  }

  return { attempt: (login, verify) => attempt(login, verify, false) }
}

/** The result of `verify`; a rejection if it throws. */
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

/** The name comes last, because it may contain any character. */
function keysOf(name: string, address: string): Keys {
  return { address: `address ${address}`, name: `name ${name}`, both: `both ${address} ${name}` }
}

/** One of several equal attempts. */
interface EqualAttempt {
  /** Waits for its turn, and runs. */
  readonly run: () => Promise<boolean>
  /** Tries once more without waiting, since an equal attempt was right. */
  readonly retry: () => Promise<boolean>
  /** Takes a place among those that wait for an equal attempt; the result leaves it. Throws where there is none. */
  readonly takePlace: () => () => void
}

/**
 * Runs one of the attempts with equal `key` at a time. When it resolves to `true`, all that wait for it retry. Otherwise the
 * next of them runs.
 */
type SharedPlace = (key: string, attempt: EqualAttempt) => Promise<boolean>

/** A {@link SharedPlace} that keeps no memory for keys without attempts. */
function createSharedPlace(): SharedPlace {
  // Those that wait, by the key of the attempt that runs. Each is resumed with whether that was right.
  const waiting = new Map<string, ((wasRight: boolean) => void)[]>()

  const end = (key: string, isRight: boolean) => {
    const equals = waiting.get(key) ?? []
    if (isRight) {
      waiting.delete(key)
      for (const resume of equals) resume(true)
      return
    }
    // Only the next one is resumed, so that a crowd that fails costs one step for each of it.
    const next = equals.shift()
    if (next) next(false)
    else waiting.delete(key)
  }

  return async (key, { run, retry, takePlace }) => {
    const equals = waiting.get(key)
    if (equals === undefined) {
      waiting.set(key, [])
    } else {
      const leavePlace = takePlace()
      const wasRight = await new Promise<boolean>((resolve) => equals.push(resolve))
      leavePlace()
      if (wasRight) return retry()
    }
    let isRight = false
    try {
      isRight = await run()
      return isRight
    } finally {
      end(key, isRight)
    }
  }
}

/** How many of an address may wait however many others do. */
const always = 10

/** When there may be room again, in milliseconds. */
const retryAfterMs = 1_000

/** Bounds how many wait, of each address and in all. */
interface WaitingPlaces {
  /**
   * Takes a place; the result leaves it.
   *
   * @throws FileServiceError `overloaded` where there is none
   */
  take(address: string): () => void
}

/** {@link WaitingPlaces} for `perAddress` of one address, and `inAll`; beyond that an address has ten at most. */
function createWaitingPlaces(perAddress: number, inAll: number): WaitingPlaces {
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

/** Lets attempts that found no place wait, those with one key in the order of their arrival. */
interface AttemptQueue {
  /** Whether an attempt with this key waits. */
  has(key: string): boolean
  /**
   * Calls `tryEnter` when the earlier attempts have entered or given up, and again whenever it was `false` and `wake` is
   * called; resolves once it is `true`, rejects if it does. `isOutdated` says whether `wake` was called since `tryEnter` began:
   * what it has read by then may not hold any more, and `false` has it called once more.
   */
  enter(key: string, tryEnter: (isOutdated: () => boolean) => Promise<boolean>): Promise<void>
  /** Notes that a place of this key may be free. */
  wake(key: string): void
}

/** An {@link AttemptQueue} that keeps no memory for keys without attempts. */
export function createAttemptQueue(): AttemptQueue {
  const line = createKeyedLock()
  // Wakes the first of each line.
  const wakes = new Map<string, () => void>()
  return {
    has: (key) => wakes.size > 0 && wakes.has(key),
    async enter(key, tryEnter) {
      const leaveLine = await line(key)
      try {
        while (true) {
          // Set before the check, so that an attempt that ends during the check is not missed.
          const { promise: end, resolve } = Promise.withResolvers<undefined>()
          let isWoken = false
          wakes.set(key, () => {
            isWoken = true
            resolve(undefined)
          })
          if (await tryEnter(() => isWoken)) return
          await end
        }
      } finally {
        wakes.delete(key)
        leaveLine()
      }
    },
    wake: (key) => wakes.get(key)?.(),
  }
}
