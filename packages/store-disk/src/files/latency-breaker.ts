import { openSync, readSync } from 'node:fs'

/** A circuit breaker for calls that the main thread makes itself: it trips when they have taken long. */
export interface LatencyBreaker {
  /** Whether calls were slow lately, so that the next had better be left to the thread pool. */
  isTripped(): boolean
  /** What `call` makes, or throws; blocks until it is done, and looks at how long that took. */
  time<Result>(call: () => Result): Result
}

/** The calls that are looked at together. A single one may have been slow by chance. */
const weight = 16

/** What calls may take on average, in milliseconds: more is waiting for a disk. A single one of 8 ms is enough. */
const usualMost = 0.5

/**
 * No more than one part in so many of the time goes into slow calls: a disk that is slow, or has a hiccup, must not
 * keep every request waiting.
 */
const restFactor = 20

/**
 * How exactly time without the processor is known, in milliseconds: to ask before each call would take as long as the
 * call. What was lost within this time before a slow call is taken for a loss during it.
 */
const askedEveryMs = 2

/**
 * Makes a breaker for calls that take microseconds as a rule, less than the waking of a thread, and now and then wait for
 * a disk. Once they have taken more than `most` milliseconds on average it stays tripped for twenty times as long as
 * they took together. Time in which the thread had no processor does not count: the thread pool would not help
 * against that.
 */
export function createLatencyBreaker(
  most = usualMost,
  clock: ThreadClock = threadClock,
): LatencyBreaker {
  let average = 0
  let trippedUntil = 0
  let askedAt = -Infinity
  let lostBefore = 0
  const ask = () => {
    askedAt = clock.now()
    const lost = clock.withoutProcessor()
    const sinceAsked = lost - lostBefore
    lostBefore = lost
    return sinceAsked
  }
  return {
    isTripped: () => trippedUntil > 0 && clock.now() < trippedUntil,
    time(call) {
      if (clock.now() - askedAt > askedEveryMs) ask()
      const begin = clock.now()
      try {
        return call()
      } finally {
        const end = clock.now()
        const elapsed = end - begin
        const cost = elapsed > most ? Math.max(0, elapsed - ask()) : elapsed
        average += (cost - average) / weight
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

/** Times of the thread that asks, in milliseconds. */
export interface ThreadClock {
  /** Never goes back. */
  now(): number
  /**
   * For how long the thread could have run, and another had the processor, since it began. Waiting for a disk is not
   * part of it. Always 0 where the system does not count it.
   */
  withoutProcessor(): number
}

/** Takes two microseconds for `withoutProcessor`, on Linux, where alone it is known. */
export const threadClock: ThreadClock = { now: () => performance.now(), withoutProcessor }

const bytes = Buffer.alloc(64)

/** Open until the process ends; `undefined` where there is none. */
let statistics: number | undefined
let isOpened = false

function withoutProcessor(): number {
  try {
    if (!isOpened) {
      isOpened = true
      statistics = openSync('/proc/thread-self/schedstat', 'r')
    }
    if (statistics === undefined) return 0
    // Nanoseconds on the processor, nanoseconds of waiting for one, number of turns.
    const length = readSync(statistics, bytes, 0, bytes.length, 0)
    const nanoseconds = Number(bytes.toString('latin1', 0, length).split(' ')[1])
    return Number.isFinite(nanoseconds) ? nanoseconds / 1e6 : 0
  } catch {
    statistics = undefined
    return 0
  }
}
