/** A circuit breaker for calls that the main thread makes itself: it trips when they have taken long. */
export interface LatencyBreaker {
  /** Whether calls were slow lately, so that the next had better be left to the thread pool. */
  isTripped(): boolean
  /** What `call` makes, or throws; blocks until it is done, and looks at how long that took. */
  time<Result>(call: () => Result): Result
}

/**
 * The calls that are looked at together. A single one may have been slow because the system had something else to do
 * than to run this process, which the thread pool would not help against.
 */
const weight = 16

/** What calls may take on average, in milliseconds: more is waiting for a disk. A single one of 8 ms is enough. */
const usualMost = 0.5

/**
 * No more than one part in so many of the time goes into slow calls: a disk that is slow, or has a hiccup, must not
 * keep every request waiting.
 */
const restFactor = 20

/**
 * Makes a breaker for calls that take microseconds as a rule, less than the waking of a thread, and now and then wait for
 * a disk. Once they have taken more than `most` milliseconds on average it stays tripped for twenty times as long as they took together.
 */
export function createLatencyBreaker(
  most = usualMost,
  now: () => number = () => performance.now(),
): LatencyBreaker {
  let average = 0
  let trippedUntil = 0
  return {
    isTripped: () => trippedUntil > 0 && now() < trippedUntil,
    time(call) {
      const begin = now()
      try {
        return call()
      } finally {
        const end = now()
        average += (end - begin - average) / weight
        if (average > most) {
          trippedUntil = end + restFactor * weight * average
          average = 0
        }
      }
    },
  }
}

/** For file systems whose calls may block. */
export const trippedBreaker: LatencyBreaker = { isTripped: () => true, time: (call) => call() }
