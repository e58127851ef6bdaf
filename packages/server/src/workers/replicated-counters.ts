import {
  type FailureCount,
  type FailureCounter,
  type UseCounter,
  createKeyedCounter,
} from '@holdfast/core'
import { failureKey, noFailures } from '../login-failure-counter.ts'

/** The failures of a key, as one process sends them to another. */
export interface ReplicatedFailure extends FailureCount {
  /** Made by `failureKey`. */
  readonly key: string
}

/** A copy of the failures that another process counts; that process reports each one. */
export interface ReplicatedFailureCounter extends FailureCounter {
  read(key: string): FailureCount
  apply(failure: ReplicatedFailure): void
  /** All failures that are not forgotten. */
  all(): readonly ReplicatedFailure[]
}

/** Makes a {@link ReplicatedFailureCounter}. All periods must have the same length. */
export function createReplicatedFailureCounter(
  now = () => performance.now(),
): ReplicatedFailureCounter {
  // In the order in which they were reported last.
  const windows = new Map<string, { readonly failures: number; readonly end: number }>()

  /** Drops what is forgotten, as far as it is the first. */
  const forget = (time: number) => {
    for (const [key, { end }] of windows) {
      if (end > time) return
      windows.delete(key)
    }
  }
  return {
    read(key) {
      // The usual case, at every request: there was no failure recently.
      if (windows.size === 0) return noFailures
      const time = now()
      const window = windows.get(failureKey(key))
      if (window === undefined || window.end <= time) return noFailures
      return { failures: window.failures, forgottenInMs: window.end - time }
    },
    // The process that counts a failure reports it before it answers the failed login.
    add: async () => {},
    apply({ key, failures, forgottenInMs }) {
      const time = now()
      forget(time)
      // The end as well: a new period may have begun, though the last one, which was reported late, has not ended here.
      windows.delete(key)
      windows.set(key, { failures, end: time + forgottenInMs })
    },
    all() {
      const time = now()
      forget(time)
      return [...windows]
        .filter(([, { end }]) => end > time)
        .map(([key, { failures, end }]) => ({ key, failures, forgottenInMs: end - time }))
    },
  }
}

/** How many uses of a key are under way, as one process sends it to another. */
export interface ReplicatedCount {
  readonly key: string
  readonly count: number
}

/** Counts the uses in this process and those that other processes have reported. */
export interface ReplicatedCounter extends UseCounter {
  /** Sets how many uses of a key all other processes have together. */
  readonly apply: (change: ReplicatedCount) => void
}

/**
 * Makes a {@link ReplicatedCounter}. It calls `notify` when the count of a key has changed by `step` since its last report, or is
 * zero again. So a few uses that begin and end are not reported.
 */
export function createReplicatedCounter(
  step: number,
  notify: (change: ReplicatedCount) => void,
): ReplicatedCounter {
  const own = createKeyedCounter()
  const reported = createKeyedCounter()
  const others = createKeyedCounter()

  const notifyIfMoved = (key: string, count: number) => {
    const before = reported.count(key)
    const isOver = count === 0 && before > 0
    if (!isOver && Math.abs(count - before) < step) return
    reported.set(key, count)
    notify({ key, count })
  }
  return {
    count: (key) => own.count(key) + others.count(key),
    change: (key, by) => notifyIfMoved(key, own.change(key, by)),
    apply: ({ key, count }) => others.set(key, count),
  }
}

/** The step for a limit of `max` for all `workers` together: the requests that they have not reported are less than an eighth of it. */
export function stepOfLimit(max: number, workers: number): number {
  return Math.max(1, Math.floor(max / (8 * workers)))
}
