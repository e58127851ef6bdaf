import { type FailureCount, type FailureCounter, createKeyedCounter } from '@holdfast/core'
import { failureKey } from '../logins/login-failure-counter.ts'
import type { RequestCounter } from '@holdfast/http-koa'

/** How often a key has failed, from one process to another. */
export interface ReplicatedFailure extends FailureCount {
  /** As `failureKey` makes it. */
  readonly key: string
}

/** The failures that another process counts, which reports each one. */
export interface ReplicatedFailureCounter extends FailureCounter {
  read(key: string): FailureCount
  apply(failure: ReplicatedFailure): void
  /** All that are not forgotten. */
  all(): readonly ReplicatedFailure[]
}

const none: FailureCount = { failures: 0, forgottenInMs: 0 }

/** A copy of failures that are counted elsewhere, all in windows of the same length. */
export function createReplicatedFailureCounter(
  now = () => performance.now(),
): ReplicatedFailureCounter {
  // In the order in which they are forgotten.
  const windows = new Map<string, { failures: number; readonly end: number }>()

  const forget = (time: number) => {
    for (const [key, { end }] of windows) {
      if (end > time) return
      windows.delete(key)
    }
  }
  return {
    read(key) {
      // The usual case, at every request: no failure lately.
      if (windows.size === 0) return none
      const time = now()
      const window = windows.get(failureKey(key))
      if (window === undefined || window.end <= time) return none
      return { failures: window.failures, forgottenInMs: window.end - time }
    },
    // The process that counts it reports it before it answers the login that failed.
    add: async () => {},
    apply({ key, failures, forgottenInMs }) {
      const time = now()
      forget(time)
      const window = windows.get(key)
      if (window) window.failures = failures
      else windows.set(key, { failures, end: time + forgottenInMs })
    },
    all() {
      const time = now()
      forget(time)
      return [...windows].map(([key, { failures, end }]) => ({
        key,
        failures,
        forgottenInMs: end - time,
      }))
    },
  }
}

/** How many requests of a key are under way, from one process to another. */
export interface ReplicatedCount {
  readonly key: string
  readonly count: number
}

/** A counter of this process and the others, as far as they have reported. */
export interface ReplicatedRequestCounter extends RequestCounter {
  /** How many the others have of a key, all together. */
  readonly apply: (change: ReplicatedCount) => void
}

/**
 * Counts what is under way here and what the others have reported. `notify` is called whenever a count has moved by
 * `stepOf` its key since it was reported, or is zero again: a few requests at a time, come and gone, are not reported.
 */
export function createReplicatedRequestCounter(
  stepOf: (key: string) => number,
  notify: (change: ReplicatedCount) => void,
): ReplicatedRequestCounter {
  const own = createKeyedCounter()
  const reported = createKeyedCounter()
  const others = createKeyedCounter()

  const notifyIfMoved = (key: string, count: number) => {
    const before = reported.count(key)
    const isOver = count === 0 && before > 0
    if (!isOver && Math.abs(count - before) < stepOf(key)) return
    reported.set(key, count)
    notify({ key, count })
  }
  return {
    count: (key) => own.count(key) + others.count(key),
    change: (key, by) => notifyIfMoved(key, own.change(key, by)),
    apply: ({ key, count }) => others.set(key, count),
  }
}

/** The step of a limit that is `max` for `workers` together: what they have not reported is less than an eighth of it. */
export function stepOfLimit(max: number, workers: number): number {
  return Math.max(1, Math.floor(max / (8 * workers)))
}
