import { createKeyedLock } from '../model/keyed-lock.ts'

/** Lets attempts that found no place wait, those with one key in the order of their arrival. */
export interface AttemptQueue {
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
