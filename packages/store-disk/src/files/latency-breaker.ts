import { openSync, readSync } from 'node:fs'

/** A circuit breaker for calls on the main thread: it trips when they have been slow. */
export interface LatencyBreaker {
  /** Whether recent calls were slow, so that the next one should use the thread pool. */
  isTripped(): boolean
  /** Runs `call`, which blocks, and measures its duration. Returns or throws what `call` does. */
  time<Result>(call: () => Result): Result
}

/** How many calls are averaged. A single one may be slow by chance. */
const weight = 16

/** The average duration of calls, in milliseconds, above which it trips: more means waiting for a disk. A single call of 8 ms is enough. */
const usualMost = 0.5

/** At most 1/20 of the time goes into slow calls: a slow disk, or one hiccup, must not keep every request waiting. */
const restFactor = 20

/**
 * How old the last reading of `withoutProcessor` may be, in milliseconds: a reading before each call would take as long as the call. Time
 * lost before a slow call, but after that reading, counts as lost during the call.
 */
const askedEveryMs = 2

/**
 * Makes a breaker for calls that usually take microseconds, less than waking a thread, but sometimes wait for a disk. When their average
 * exceeds `most` milliseconds, it stays tripped for 20 times their total duration. Time in which the thread had no processor does not
 * count: the thread pool would not help against that.
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

/** Times of the calling thread, in milliseconds. */
export interface ThreadClock {
  /** Never goes back. */
  now(): number
  /**
   * How long in total the thread was ready to run while another thread had the processor. Waiting for a disk is not part of it. Always 0
   * where the system does not count it.
   */
  withoutProcessor(): number
}

/** A reading of `withoutProcessor` takes two microseconds on Linux; elsewhere it is always 0. */
export const threadClock: ThreadClock = { now: () => performance.now(), withoutProcessor }

const bytes = Buffer.alloc(64)

/** Stays open until the process ends; `undefined` where there is no such file. */
let statistics: number | undefined
let isOpened = false

function withoutProcessor(): number {
  try {
    if (!isOpened) {
      isOpened = true
      statistics = openSync('/proc/thread-self/schedstat', 'r')
    }
    if (statistics === undefined) return 0
    // Nanoseconds on the processor, nanoseconds of waiting for one, number of time slices.
    const length = readSync(statistics, bytes, 0, bytes.length, 0)
    const nanoseconds = Number(bytes.toString('latin1', 0, length).split(' ')[1])
    return Number.isFinite(nanoseconds) ? nanoseconds / 1e6 : 0
  } catch {
    statistics = undefined
    return 0
  }
}
