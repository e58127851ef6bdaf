import { monotonicTime } from '../model/monotonic-time.ts'
import type { FailureCounter } from '../ports/failure-counter.ts'

export interface MemoryFailureCounterOptions {
  /** How long failures are remembered, in milliseconds from the first one. */
  readonly windowMs: number
  /** A time in milliseconds that only goes on. Default: that of `performance.now`. */
  readonly now?: () => number
}

/**
 * A {@link FailureCounter} in memory, for tests and examples: it forgets a key only when that key is asked for again,
 * so a server in the open wants one that sweeps.
 */
export function createMemoryFailureCounter({
  windowMs,
  now = monotonicTime,
}: MemoryFailureCounterOptions): FailureCounter {
  const windows = new Map<string, { failures: number; readonly end: number }>()

  const current = (key: string, time: number) => {
    const window = windows.get(key)
    if (window && window.end > time) return window
    windows.delete(key)
    return undefined
  }

  return {
    read(key) {
      const time = now()
      const window = current(key, time)
      return { failures: window?.failures ?? 0, forgottenInMs: window ? window.end - time : 0 }
    },
    async add(key) {
      const time = now()
      const window = current(key, time) ?? { failures: 0, end: time + windowMs }
      window.failures++
      windows.set(key, window)
    },
  }
}
