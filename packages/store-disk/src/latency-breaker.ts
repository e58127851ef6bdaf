/** A circuit breaker for calls that the main thread makes itself: it trips when one of them has taken long. */
export interface LatencyBreaker {
  /** Whether a call was slow lately, so that the next had better be left to the thread pool. */
  isTripped(): boolean
  /** What `call` makes, or throws; blocks until it is done, and looks at how long that took. */
  time<Result>(call: () => Result): Result
}

/** A call that takes longer than this, in milliseconds, has waited for a disk, or for a processor. */
const slow = 1

/**
 * No more than one part in so many of the time goes into slow calls: a disk that is slow, or has a hiccup, must not
 * keep every request waiting.
 */
const restFactor = 20

/**
 * Makes a breaker for calls that take microseconds as a rule, less than the waking of a thread, and now and then wait for
 * a disk. After a slow one it stays tripped for twenty times as long as that took.
 */
export function createLatencyBreaker(now: () => number = () => performance.now()): LatencyBreaker {
  let trippedUntil = 0
  return {
    isTripped: () => trippedUntil > 0 && now() < trippedUntil,
    time(call) {
      const begin = now()
      try {
        return call()
      } finally {
        const took = now() - begin
        if (took > slow) trippedUntil = begin + (restFactor + 1) * took
      }
    },
  }
}

/** For where calls would block, or where nobody knows. */
export const trippedBreaker: LatencyBreaker = { isTripped: () => true, time: (call) => call() }
