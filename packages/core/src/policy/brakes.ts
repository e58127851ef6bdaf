import { FileServiceError, isFileServiceError } from '../model/errors.ts'
import { createKeyedCounter } from '../model/concurrency.ts'
import {
  requireCount,
  having,
  requireFunction,
  requireOptions,
  type OptionCheck,
} from '../model/require.ts'
import type { FailureCount, FailureCounter } from '../ports/failure-counter.ts'
import { createAttemptSlots, slotsOf, type UnderWay } from './attempt-slots.ts'
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
 *
 * If several servers share the counter, each runs its share of the attempts that may still fail; see `FailureCounter.sharers`.
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
  // The addresses from which a login succeeded, and the pairs of name and address of such logins.
  const known = createRecentValues<true>(maxKnown)
  const isKnown = (key: string) => known.get(key) === true

  /** How many slots of the address are reserved for others than this attempt. */
  const reserved = ([address, , both]: Keys, slots: number): number =>
    slots >= shareForKnown && isKnown(address) && !isKnown(both)
      ? Math.floor(slots / shareForKnown)
      : 0

  const hasAddressSlot = (keys: Keys, { failures }: FailureCount, underWay: UnderWay): boolean => {
    const taken = underWay(keys[0])
    const slots = slotsOf(failuresPerAddress - failures, counter)
    return taken === 0 ? slots > 0 : taken < slots - reserved(keys, slots)
  }

  const slots = createAttemptSlots<Keys>(counter, {
    refusedFor([byAddress, byName, byBoth]) {
      if (byAddress.failures >= failuresPerAddress) return byAddress.forgottenInMs
      if (byName.failures < failuresPerName || byBoth.failures === 0) return undefined
      return Math.min(byName.forgottenInMs, byBoth.forgottenInMs)
    },
    hasSlot(keys, [byAddress, byName], underWay) {
      const [, name, both] = keys
      return (
        hasAddressSlot(keys, byAddress, underWay) &&
        (underWay(name) < slotsOf(failuresPerName - byName.failures, counter) ||
          underWay(both) === 0)
      )
    },
    refusal: 'Too many failed logins',
  })
  const waitingSlots = createWaitingSlots(waitingPerAddress, waiting)
  const equalSlots = createWaitingSlots(waitingForEqual.perAddress, waitingForEqual.inAll)
  const runEqual = createEqualAttempts()

  const remember = ([address, , both]: Keys) => {
    // Set again even if it is known, so that the latest logins are kept.
    known.set(both, true)
    // Set last, so that the address is dropped after its names.
    known.set(address, true)
  }

  /** Runs an attempt that has a slot, counts its failure, and frees the slot. */
  const runInSlot = async (keys: Keys, verify: Verify, signal: AbortSignal | undefined) => {
    let failed: readonly string[] = []
    try {
      const isRight = await verify()
      if (isRight) remember(keys)
      else failed = keys
      return isRight
    } catch (error) {
      // The password may have been compared already: a verifier checks remembered passwords first, and queues others. The name is
      // not counted: otherwise a flood of attempts would lock out the customer.
      if (isFileServiceError(error, 'overloaded') || signal?.aborted) failed = [keys[0]]
      throw error
    } finally {
      await slots.leave(keys, failed)
    }
  }

  /** Runs an attempt for which a slot is free. */
  const run = (keys: Keys, verify: Verify, signal: AbortSignal | undefined) => {
    const verdict = settled(verify)
    if (verdict !== true) {
      slots.take(keys)
      return runInSlot(keys, () => verdict, signal)
    }
    // The result is synchronous: no other attempt could have taken the slot meanwhile. Without others under way no slot is scarce,
    // and to look up a new string costs as much as a counter.
    if (slots.underWay(keys[0]) > 0) remember(keys)
    return true
  }

  const waitAndRun = async (keys: Keys, verify: Verify, signal: AbortSignal | undefined) => {
    const giveBack = waitingSlots.take(keys[0])
    try {
      await slots.wait(keys, signal)
    } finally {
      giveBack()
    }
    return runInSlot(keys, verify, signal)
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
    const mustQueue = slots.hasQueue(keys) && !isRetry && !isKnown(keys[2])
    const found = mustQueue ? undefined : slots.ifFree(keys, () => run(keys, verify, signal))
    // An `await` costs a microtask, at every request.
    const isRight = found instanceof Promise ? await found : found
    if (isRight !== undefined) return isRight
    const queued = () => waitAndRun(keys, verify, signal)
    if (password === undefined) return queued()
    return runEqual(JSON.stringify([address, name, password]), {
      run: queued,
      retry: () => attempt(login, verify, true),
      takeSlot: () => equalSlots.take(keys[0]),
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

type Keys = readonly [address: string, name: string, both: string]

/** The keys of an attempt. The name comes last in each, because it may contain any character. */
function keysOf(name: string, address: string): Keys {
  return [`address ${address}`, `name ${name}`, `both ${address} ${name}`]
}

/** One of several equal attempts. */
interface EqualAttempt {
  /** Waits in the queue, and then runs the attempt. */
  readonly run: () => Promise<boolean>
  /** Retries without waiting, since an equal attempt was right. */
  readonly retry: () => Promise<boolean>
  /** Takes a slot among those that wait for an equal attempt, and returns the function that frees it. Throws if there is none. */
  readonly takeSlot: () => () => void
}

/**
 * Runs one of the attempts with equal `key` at a time. If it resolves with `true`, all that wait for it retry. Otherwise the next of
 * them runs.
 */
type EqualAttempts = (key: string, attempt: EqualAttempt) => Promise<boolean>

/** {@link EqualAttempts} that use no memory for keys without attempts. */
function createEqualAttempts(): EqualAttempts {
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

  return async (key, { run, retry, takeSlot }) => {
    const equals = waiting.get(key)
    if (equals === undefined) {
      waiting.set(key, [])
    } else {
      const giveBack = takeSlot()
      const wasRight = await new Promise<boolean>((resolve) => equals.push(resolve))
      giveBack()
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
interface WaitingSlots {
  /**
   * Takes a slot, and returns the function that frees it.
   *
   * @throws FileServiceError `overloaded` if there is none
   */
  take(address: string): () => void
}

/** {@link WaitingSlots} with `perAddress` slots for one address, and `inAll` for all; beyond that an address has at most ten. */
function createWaitingSlots(perAddress: number, inAll: number): WaitingSlots {
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
