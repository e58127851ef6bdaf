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
