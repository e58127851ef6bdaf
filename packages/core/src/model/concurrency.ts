/**
 * One lock for each key. Resolves when every earlier holder has released the lock, with the function that releases it.
 */
export type KeyedLock = (key: string) => Promise<() => void>

/** A {@link KeyedLock} that uses no memory for keys without holders and waiters. */
export function createKeyedLock(): KeyedLock {
  const tails = new Map<string, Promise<undefined>>()
  return async (key) => {
    const { promise: released, resolve } = Promise.withResolvers<undefined>()
    const earlier = tails.get(key)
    const tail = earlier ? earlier.then(() => released) : released
    tails.set(key, tail)
    void tail.then(() => {
      if (tails.get(key) === tail) tails.delete(key)
    })
    await earlier
    return () => resolve(undefined)
  }
}

/**
 * Takes the lock of `key`. If `signal` aborts before that, it rejects at once with the signal's reason, and releases the lock as
 * soon as it gets it.
 */
export async function lockUnlessAborted(
  lock: KeyedLock,
  key: string,
  signal: AbortSignal | undefined,
): Promise<() => void> {
  if (signal === undefined) return lock(key)
  signal.throwIfAborted()
  const locking = lock(key)
  const { promise: aborted, reject } = Promise.withResolvers<never>()
  const onAbort = () => reject(signal.reason as Error)
  signal.addEventListener('abort', onAbort, { once: true })
  try {
    return await Promise.race([locking, aborted])
  } catch (error) {
    void locking.then((release) => release())
    throw error
  } finally {
    signal.removeEventListener('abort', onAbort)
  }
}

/** A held lock of {@link RevocableLocks}. */
export interface HeldLock {
  /**
   * How many earlier holders of the key's lock have lost it and not released it. They may still act: a process that was suspended
   * continues later.
   */
  readonly lostHolders: number
  /** Whether the last holder was the same process, so that no one else has changed anything since. `false` if that is not known. */
  readonly isSameHolder: boolean
  /** A second call does nothing. */
  readonly release: () => void
}

/** One lock for each key, which its holder can lose. Calls get the lock in their order. */
export type RevocableLocks = (key: string) => Promise<HeldLock>

/**
 * {@link RevocableLocks} of one process, whose holders never lose the lock.
 *
 * @param isShared whether several services use them. Default: yes
 */
export function createRevocableLocks(isShared = true): RevocableLocks {
  const lock = createKeyedLock()
  return async (key) => ({ lostHolders: 0, isSameHolder: !isShared, release: await lock(key) })
}

/** Counts how many uses of one thing are under way. */
export interface UseCount {
  count(): number
  change(by: 1 | -1): void
}

/** Counts by key how many uses are under way. */
export interface UseCounter {
  count(key: string): number
  change(key: string, by: 1 | -1): void
}

/** The count of one key of `counter`. */
export function countOf(counter: UseCounter, key: string): UseCount {
  return { count: () => counter.count(key), change: (by) => counter.change(key, by) }
}

/** A count for each key. */
export interface KeyedCounter extends UseCounter {
  /** Adds `by`, which may be negative, and returns the new count. */
  change(key: string, by: number): number
  set(key: string, count: number): void
  /** The keys whose count is not 0 at present. */
  keys(): readonly string[]
}

/** A {@link KeyedCounter} that uses no memory for a key whose count is 0. */
export function createKeyedCounter(): KeyedCounter {
  const counts = new Map<string, number>()
  // To look up a string that was just concatenated, the engine has to copy and hash it.
  const count = (key: string) => (counts.size === 0 ? 0 : (counts.get(key) ?? 0))
  const set = (key: string, next: number) => {
    if (next === 0) counts.delete(key)
    else counts.set(key, next)
  }
  return {
    count,
    change(key, by) {
      const next = count(key) + by
      set(key, next)
      return next
    },
    set,
    keys: () => [...counts.keys()],
  }
}

/**
 * `content`, but it throws the signal's reason as soon as the signal aborts, even while `content` is stalled. When the iteration
 * ends, for any reason, the iterator of `content` is closed. This does not wait for that: a stalled iterator closes only when it
 * continues.
 */
export function abortable<T>(
  content: AsyncIterable<T>,
  signal: AbortSignal | undefined,
): AsyncIterable<T> {
  return signal === undefined ? content : untilAborted(content, signal)
}

async function* untilAborted<T>(content: AsyncIterable<T>, signal: AbortSignal) {
  const iterator = content[Symbol.asyncIterator]()
  // Makes a promise for each step: a race with one long-lived promise would leave a reaction on that for each chunk.
  let abandonStep = (_reason: unknown) => {}
  const onAbort = () => abandonStep(signal.reason)
  signal.addEventListener('abort', onAbort, { once: true })
  try {
    while (true) {
      signal.throwIfAborted()
      const step = await new Promise<IteratorResult<T>>((resolve, reject) => {
        abandonStep = reject
        iterator.next().then(resolve, reject)
      })
      if (step.done === true) return
      yield step.value
    }
  } finally {
    signal.removeEventListener('abort', onAbort)
    iterator.return?.().catch(() => {})
  }
}
