import { FileServiceError } from '../model/errors.ts'
import { createKeyedCounter, createKeyedLock } from '../model/concurrency.ts'
import type { FailureCount, FailureCounter } from '../ports/failure-counter.ts'

/** The keys under which the failures of an attempt count. The attempts with the first key wait in one queue. */
export type AttemptKeys = readonly [queue: string, ...others: string[]]

export interface AttemptRules<Keys extends AttemptKeys> {
  /** How long attempts with these counts, one per key, are refused, in milliseconds; `undefined` if they are allowed. */
  readonly refusedFor: (counts: Counts<Keys>) => number | undefined
  /** Whether one more attempt may begin beside those under way, each of which may still fail. */
  readonly hasSlot: (keys: Keys, counts: Counts<Keys>, underWay: UnderWay) => boolean
  /** The message for attempts that are refused. */
  readonly refusal: string
}

/** The failures under each of the keys, in the same order. */
export type Counts<Keys extends AttemptKeys> = { readonly [Index in keyof Keys]: FailureCount }

/** How many attempts with this key are under way. */
export type UnderWay = (key: string) => number

/**
 * Slots for attempts that may fail. An attempt takes a slot, and counts as a failure, until it has ended: so a thousand concurrent
 * attempts are limited as the same attempts one after another.
 */
export interface AttemptSlots<Keys extends AttemptKeys> {
  readonly underWay: UnderWay
  /** Whether attempts of the queue of `keys` wait. */
  hasQueue(keys: Keys): boolean
  /**
   * Calls `run` if a slot is free, and returns its result; otherwise returns `undefined`. `run` must take the slot before it returns
   * or awaits, unless its attempt has succeeded by then. If the counter is synchronous, so is this.
   *
   * @throws FileServiceError `too-many-attempts` with `retryAfterMs`
   */
  ifFree<T>(keys: Keys, run: () => T): T | undefined | Promise<T | undefined>
  take(keys: Keys): void
  /**
   * Takes a slot after all attempts that came before, as soon as one is free. It looks whenever one of the queue has been given back.
   *
   * @throws FileServiceError `too-many-attempts` with `retryAfterMs`; the reason of `signal` if that has aborted by then
   */
  wait(keys: Keys, signal?: AbortSignal): Promise<void>
  /** Gives a slot back, after it has counted one failure under each of `failed`. */
  leave(keys: Keys, failed: readonly string[]): Promise<void>
}

/**
 * How many attempts with one key this server may have under way, when `left` more failures of the key are allowed: its share of
 * them, and at least one.
 *
 * A server does not know what the others have under way. If all attempts take equally long, n servers together run fewer than
 * limit + n attempts that fail. If the attempts of some servers take longer than all attempts of another one together, they run
 * fewer than 2 × limit + n.
 */
export function slotsOf(left: number, counter: Pick<FailureCounter, 'sharers'>): number {
  if (left <= 0) return 0
  return Math.max(1, Math.floor(left / (counter.sharers?.() ?? 1)))
}

/** Makes {@link AttemptSlots}. They use no memory for keys without attempts. */
export function createAttemptSlots<Keys extends AttemptKeys>(
  counter: FailureCounter,
  { refusedFor, hasSlot, refusal }: AttemptRules<Keys>,
): AttemptSlots<Keys> {
  const counts = createKeyedCounter()
  const underWay: UnderWay = (key) => counts.count(key)
  const queue = createQueues()
  /** The reads of an asynchronous counter that are under way. */
  const reads = new Set<{ readonly keys: readonly string[]; isOutdated: boolean }>()

  const read = (keys: Keys): Counts<Keys> | Promise<Counts<Keys>> => {
    const found = keys.map((key) => counter.read(key))
    const isKnown = found.every((one) => !(one instanceof Promise))
    if (isKnown) return found as unknown as Counts<Keys>
    return Promise.all(found.map(async (one) => one)) as Promise<unknown> as Promise<Counts<Keys>>
  }

  const decide = <T>(keys: Keys, found: Counts<Keys>, run: () => T): T | undefined => {
    const retryAfterMs = refusedFor(found)
    if (retryAfterMs !== undefined) {
      throw new FileServiceError('too-many-attempts', refusal, { retryAfterMs })
    }
    return hasSlot(keys, found, underWay) ? run() : undefined
  }

  const decideLater = async <T>(
    keys: Keys,
    reading: Counts<Keys> | Promise<Counts<Keys>>,
    run: () => T,
  ): Promise<T | undefined> => {
    const state = { keys, isOutdated: false }
    reads.add(state)
    try {
      const found = await reading
      // There is no `await` between this check and `run`, so that no two attempts take the same slot.
      if (!state.isOutdated) return decide(keys, found, run)
    } finally {
      reads.delete(state)
    }
    return decideLater(keys, read(keys), run)
  }

  const ifFree = <T>(keys: Keys, run: () => T) => {
    const found = read(keys)
    return found instanceof Promise ? decideLater(keys, found, run) : decide(keys, found, run)
  }

  const take = (keys: Keys) => {
    for (const key of keys) counts.change(key, 1)
  }

  const giveBack = (keys: Keys) => {
    for (const key of keys) counts.change(key, -1)
    queue.wake(keys[0])
  }

  const count = async (failed: readonly string[]) => {
    try {
      await Promise.all(failed.map((key) => counter.add(key)))
    } finally {
      // A read that began earlier may lack these failures, which from now on are in no slot. Later reads find them.
      for (const state of reads) {
        if (failed.some((key) => state.keys.includes(key))) state.isOutdated = true
      }
    }
  }

  return {
    underWay,
    hasQueue: ([key]) => queue.has(key),
    ifFree,
    take,
    wait: (keys, signal) =>
      queue.enter(keys[0], async () => {
        signal?.throwIfAborted()
        const hasTaken = await ifFree(keys, () => {
          take(keys)
          return true
        })
        return hasTaken === true
      }),
    async leave(keys, failed) {
      try {
        if (failed.length > 0) await count(failed)
      } finally {
        giveBack(keys)
      }
    },
  }
}

/** A queue for each key. Those that wait leave it in the order of their arrival. */
interface Queues {
  /** Whether one waits in the queue of this key. */
  has(key: string): boolean
  /**
   * Calls `tryEnter` when all that came before have left the queue. If it resolves with `false`, calls it again after `wake` was called.
   * Resolves when it resolves with `true`, and rejects when it rejects.
   */
  enter(key: string, tryEnter: () => Promise<boolean>): Promise<void>
  /** Call this when a slot of this key may be free. */
  wake(key: string): void
}

function createQueues(): Queues {
  const lock = createKeyedLock()
  // Wakes the first one of each queue.
  const wakes = new Map<string, () => void>()
  return {
    has: (key) => wakes.size > 0 && wakes.has(key),
    async enter(key, tryEnter) {
      const unlock = await lock(key)
      try {
        while (true) {
          // Set before the check, so that a slot that is given back during the check is not missed.
          const { promise: woken, resolve } = Promise.withResolvers<undefined>()
          wakes.set(key, () => resolve(undefined))
          if (await tryEnter()) return
          await woken
        }
      } finally {
        wakes.delete(key)
        unlock()
      }
    },
    wake: (key) => wakes.get(key)?.(),
  }
}
