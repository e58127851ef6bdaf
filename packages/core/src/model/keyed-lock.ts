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
