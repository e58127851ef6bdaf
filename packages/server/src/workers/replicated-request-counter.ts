import { createKeyedCounter } from '@holdfast/core'
import type { RequestCounter } from '@holdfast/http-koa'

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
