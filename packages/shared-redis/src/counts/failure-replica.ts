import type { FailureCount } from '@holdfast/core'

/** The failures of a key, as servers send them to each other. */
export interface SharedFailure extends FailureCount {
  /** The text that stands for the key: see `keyOf` of `SharedFailureOptions`. */
  readonly key: string
}

/** What this server knows of the failures that all servers have counted, and its own that the engine does not have yet. */
export interface FailureReplica {
  read(key: string): FailureCount
  /** Takes over what the engine has counted. Older data, which arrive later, change nothing. */
  learn(failure: SharedFailure): void
  /** Counts failures that the engine may not have. */
  addUnsent(key: string, count: number): void
  /** The engine has counted `count` of the unsent failures. */
  confirm(failure: SharedFailure, count: number): void
  /** All failures that are not forgotten. */
  all(): readonly SharedFailure[]
  /** Those of {@link all} that the engine had counted. */
  counted(): readonly SharedFailure[]
  isEmpty(): boolean
}

interface Period {
  /** As the engine has counted. */
  failures: number
  /** Those of this server that the engine has not confirmed. */
  unsent: number
  end: number
}

export interface FailureReplicaOptions {
  /** How long the period of a key is, in milliseconds. */
  readonly windowMs: number
  /** A time in milliseconds that never goes back. Default: that of `performance.now`. */
  readonly now?: () => number
  /** How many keys are kept; beyond that, those known longest are dropped. Default: 100,000. */
  readonly most?: number
}

export const noFailures: FailureCount = { failures: 0, forgottenInMs: 0 }

/** Makes a {@link FailureReplica}. */
export function createFailureReplica({
  windowMs,
  now = () => performance.now(),
  most = 100_000,
}: FailureReplicaOptions): FailureReplica {
  // Those known longest first.
  const periods = new Map<string, Period>()

  const current = (key: string): Period | undefined => {
    const period = periods.get(key)
    return period !== undefined && period.end > now() ? period : undefined
  }
  /** Begins a period, and drops those that are over, as far as they are the first. */
  const begin = (key: string, period: Period) => {
    periods.delete(key)
    periods.set(key, period)
    const time = now()
    for (const [oldest, { end }] of periods) {
      if (end > time && periods.size <= most) break
      periods.delete(oldest)
    }
  }
  const learn = ({ key, failures, forgottenInMs }: SharedFailure) => {
    if (failures <= 0) return
    const period = current(key)
    const end = now() + forgottenInMs
    // Messages take different times, so the ends of one period differ, but not by half of it. Then it is the next period.
    if (period === undefined || end > period.end + windowMs / 2) {
      return begin(key, { failures, unsent: period?.unsent ?? 0, end })
    }
    period.failures = Math.max(period.failures, failures)
    period.end = Math.min(period.end, end)
  }
  const list = (count: (period: Period) => number): readonly SharedFailure[] => {
    const time = now()
    return [...periods]
      .filter(([, period]) => period.end > time && count(period) > 0)
      .map(([key, period]) => ({
        key,
        failures: count(period),
        forgottenInMs: period.end - time,
      }))
  }
  return {
    read(key) {
      const period = current(key)
      if (period === undefined) return noFailures
      return { failures: period.failures + period.unsent, forgottenInMs: period.end - now() }
    },
    learn,
    addUnsent(key, count) {
      const period = current(key)
      if (period) period.unsent += count
      else begin(key, { failures: 0, unsent: count, end: now() + windowMs })
    },
    confirm(failure, count) {
      const period = current(failure.key)
      if (period) period.unsent = Math.max(0, period.unsent - count)
      learn(failure)
    },
    all: () => list(({ failures, unsent }) => failures + unsent),
    counted: () => list(({ failures }) => failures),
    isEmpty: () => periods.size === 0,
  }
}
