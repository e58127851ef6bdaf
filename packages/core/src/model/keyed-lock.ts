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
