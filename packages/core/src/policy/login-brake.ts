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
  /** Counts the failures. Its period is how long the brake refuses attempts. */
  readonly counter: FailureCounter
  /** How many failures one address may have, on all names together, before it is refused. Default: 30. */
  readonly failuresPerAddress?: number
  /** How many failures one name may have, from all addresses together, before addresses with a failure on it are refused. Default: 10. */
  readonly failuresPerName?: number
  /** Whether an address is exempt: its attempts are not counted, refused or delayed. Default: none is. */
  readonly isExempt?: (address: string) => boolean
  /** How many attempts of one address may wait; one more is refused as `overloaded`. Default: 200. */
  readonly waitingPerAddress?: number
  /**
   * How many attempts of all addresses may wait. When so many wait, an address may still have up to ten, so that others cannot
   * block it. Default: 1,000.
   */
  readonly waiting?: number
}

/** An attempt to log in. */
export interface LoginAttempt {
  readonly name: string
  readonly address: string
  /** Waiting attempts with equal name, address and password share one slot. Attempts without a password share none. */
  readonly password?: string
  /** Cancels a waiting attempt: it rejects with the signal's reason when it reaches the front of the queue. */
  readonly signal?: AbortSignal | undefined
}

/** Refuses logins after too many failures. */
export interface LoginBrake {
  /**
   * Calls `verify` when the limits allow it, and resolves with its result. While as many attempts are under way as failures are
   * still allowed, the attempt waits, and is checked again when one of them has ended. `false` is counted as a failure before the
   * promise resolves. A rejection of `verify` with `overloaded`, or after `signal` has aborted, counts as a failure of the address
   * only; other rejections do not count.
   *
   * @throws FileServiceError with `retryAfterMs`: `too-many-attempts`; `overloaded` if too many wait. `verify` is not called then.
   */
  attempt(attempt: LoginAttempt, verify: Verify): Promise<boolean>
}

const requireLimit: OptionCheck = (what, value) => requireCount(what, value, 'attempts')

type Verify = () => boolean | Promise<boolean>

/** How many attempts of one address, and of all, may wait for an equal one. They cost little more than their connections. */
const waitingForEqual = { perAddress: 2_000, inAll: 10_000 }

/** One of so many slots of an address is reserved for the names that have logged in from it. */
const shareForKnown = 8

/** How many addresses, and pairs of name and address, are remembered. */
const maxKnown = 20_000

/** A brake that allows every attempt. */
export const noLoginBrake: LoginBrake = {
  attempt: async (_attempt, verify) => verify(),
}

/**
 * A brake with two rules. After `failuresPerAddress` failures it refuses the address. After `failuresPerName` failures on a name it
 * refuses every address that has failed on that name. So an attacker gets few guesses from each address, and the customer, whose
 * address has no failures, can still log in. Unknown names are counted like known ones, so the brake does not reveal which customers
 * exist.
 *
 * An attempt takes a slot, and counts as a failure, until it has ended: so a thousand concurrent guesses are limited as the same
 * guesses one after another. Of each address, one attempt on a name never waits for other addresses. The waiting attempts of one
 * address enter in the order of their arrival; their number is limited. An attempt that succeeds synchronously, for example with a
 * remembered password, needs no slot, unless others of its address wait. Customers who logged in from this address before do not
 * wait in its queue: an eighth of its slots, rounded down, is reserved for their names. (Such a login is remembered only if its
 * verification was asynchronous, or others of the address were under way.)
 *
 * Waiting attempts of one address with equal name and password share one slot, so that a client may open a thousand connections at
 * once: when one attempt is right, the others retry at once, and a verifier that remembers the password accepts them. They never
 * share a result: wrong attempts run and count one after another, and each is compared with the present credential. Only what the
 * client sent decides which attempts are equal, so that this does not reveal which customers exist.
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
  // The addresses from which a login succeeded, and the pairs of name and address of such logins.
  const known = createRecentValues<true>(maxKnown)
  let failed = 0

  /** The counts of the three keys; synchronous if the counter is. */
  const read = ({ address, name, both }: Keys): Counts | Promise<Counts> => {
    const byAddress = counter.read(address)
    const byName = counter.read(name)
    const byBoth = counter.read(both)
    if (byAddress instanceof Promise || byName instanceof Promise || byBoth instanceof Promise) {
      return Promise.all([byAddress, byName, byBoth])
    }
    return [byAddress, byName, byBoth]
  }

  /** How long attempts with these counts are refused, in milliseconds; `undefined` if they are allowed. */
  const refusedFor = ([byAddress, byName, byBoth]: Counts): number | undefined => {
    if (byAddress.failures >= failuresPerAddress) return byAddress.forgottenInMs
    if (byName.failures < failuresPerName || byBoth.failures === 0) return undefined
    return Math.min(byName.forgottenInMs, byBoth.forgottenInMs)
  }

  /** How many slots of the address are reserved for others than this attempt. */
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

  /** Takes a slot if one is free. There is no `await` between the check and the taking, so that no two attempts take the same slot. */
  const tryEnter = async (keys: Keys, reading = read(keys)): Promise<boolean> => {
    const failedBefore = failed
    const counts = await reading
    // Since the counter was read, a failure may have been counted and its slot given back.
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
      // Changed only now: from here on, a read of the counter finds the failures.
      failed++
    }
  }

  const leave = (keys: Keys) => {
    changePlaces(keys, -1)
    queue.wake(keys.address)
  }

  const remember = ({ address, both }: Keys) => {
    // Set again even if it is known, so that the latest logins are kept.
    known.set(both, true)
    // Set last, so that the address is dropped after its names.
    known.set(address, true)
  }

  /** Runs an attempt that has a slot, counts its failure, and frees the slot. */
  const judge = async (keys: Keys, verify: Verify, signal: AbortSignal | undefined) => {
    let failures: readonly string[] = []
    try {
      const isRight = await verify()
      if (isRight) remember(keys)
      else failures = Object.values(keys)
      return isRight
    } catch (error) {
      // The password may have been compared already: a verifier checks remembered passwords first, and queues others. The name is
      // not counted: otherwise a flood of attempts would lock out the customer.
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
      // The result is synchronous: no other attempt could have taken the slot meanwhile.
      if (verdict === true) {
        // Without others under way no slot is scarce, and to look up a new string costs as much as a counter.
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

/** The result of `verify`; a rejected promise if it throws. */
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

/** The keys of an attempt. The name comes last, because it may contain any character. */
function keysOf(name: string, address: string): Keys {
  return { address: `address ${address}`, name: `name ${name}`, both: `both ${address} ${name}` }
}

/** One of several equal attempts. */
interface EqualAttempt {
  /** Waits in the queue, and then runs the attempt. */
  readonly run: () => Promise<boolean>
  /** Retries without waiting, since an equal attempt was right. */
  readonly retry: () => Promise<boolean>
  /** Takes a slot among those that wait for an equal attempt, and returns the function that frees it. Throws if there is none. */
  readonly takePlace: () => () => void
}

/**
 * Runs one of the attempts with equal `key` at a time. If it resolves with `true`, all that wait for it retry. Otherwise the next of
 * them runs.
 */
type SharedPlace = (key: string, attempt: EqualAttempt) => Promise<boolean>

/** A {@link SharedPlace} that uses no memory for keys without attempts. */
function createSharedPlace(): SharedPlace {
  // The waiting attempts, by the key of the running one. Each is resumed with whether the running one was right.
  const waiting = new Map<string, ((wasRight: boolean) => void)[]>()

  const end = (key: string, isRight: boolean) => {
    const equals = waiting.get(key) ?? []
    if (isRight) {
      waiting.delete(key)
      for (const resume of equals) resume(true)
      return
    }
    // Only the next one is resumed, so that many failing attempts cost only one step each.
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

/** How many attempts of an address may always wait, even if too many others do. */
const always = 10

/** After how long a refused client may retry, in milliseconds. */
const retryAfterMs = 1_000

/** Limits how many attempts wait, of each address and of all. */
interface WaitingPlaces {
  /**
   * Takes a slot, and returns the function that frees it.
   *
   * @throws FileServiceError `overloaded` if there is none
   */
  take(address: string): () => void
}

/** {@link WaitingPlaces} with `perAddress` slots for one address, and `inAll` for all; beyond that an address has at most ten. */
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

/** A queue, for each key, of the attempts that found no slot. They leave it in the order of their arrival. */
interface AttemptQueue {
  /** Whether an attempt with this key waits. */
  has(key: string): boolean
  /**
   * Calls `tryEnter` when all earlier attempts have left the queue. If it resolves with `false`, calls it again after `wake` was
   * called. Resolves when it resolves with `true`, and rejects when it rejects. `isOutdated` returns whether `wake` was called since
   * `tryEnter` began: then the counts that it has read may be wrong, and it can return `false` to be called again at once.
   */
  enter(key: string, tryEnter: (isOutdated: () => boolean) => Promise<boolean>): Promise<void>
  /** Call this when a slot of this key may be free. */
  wake(key: string): void
}

/** An {@link AttemptQueue} that uses no memory for keys without attempts. */
export function createAttemptQueue(): AttemptQueue {
  const line = createKeyedLock()
  // Wakes the first attempt of each queue.
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
