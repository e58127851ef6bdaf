/**
 * One lock for each key. Resolves to the function that releases the lock, once every earlier holder has released it.
 */
export type KeyedLock = (key: string) => Promise<() => void>

/** A {@link KeyedLock} that keeps no memory for keys without holder and waiters. */
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
 * Takes the lock of `key`, unless `signal` aborts before that: then it rejects with the signal's reason at once, and releases the
 * lock when its turn comes.
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

/** The right to do something while no other does. */
export interface Turn {
  /**
   * How many earlier turns of the key had to be passed on before they ended, and may still be doing what they were for: that of a process
   * that stands still, and wakes up.
   */
  readonly unended: number
  /** Whether the same taker had the last turn of the key, so that no one else has changed anything since. `false` if that is not known. */
  readonly isNext: boolean
  readonly end: () => void
}

/** One turn at a time for each key, in the order of asking. */
export type KeyedTurns = (key: string) => Promise<Turn>

/** {@link KeyedTurns} of one process, none of which is passed on; `isShared` by several takers. Default: it is. */
export function createKeyedTurns(isShared = true): KeyedTurns {
  const lock = createKeyedLock()
  return async (key) => ({ unended: 0, isNext: !isShared, end: await lock(key) })
}
