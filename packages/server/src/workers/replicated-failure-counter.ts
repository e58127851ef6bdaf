import type { FailureCount, FailureCounter } from '@holdfast/core'
import { failureKey } from '../logins/failure-key.ts'

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
