import type { RequestTally } from '@holdfast/http-koa'

/** How many requests of a key are under way, from one process to another. */
export interface ReplicatedCount {
  readonly key: string
  readonly count: number
}

/** A counter of this process and the others, as far as they have reported. */
export interface ReplicatedRequestCounter extends RequestTally {
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
  const own = new Map<string, number>()
  const reported = new Map<string, number>()
  const others = new Map<string, number>()

  const notifyIfMoved = (key: string, count: number) => {
    const before = reported.get(key) ?? 0
    const isOver = count === 0 && before > 0
    if (!isOver && Math.abs(count - before) < stepOf(key)) return
    set(reported, key, count)
    notify({ key, count })
  }
  return {
    count: (key) => (own.get(key) ?? 0) + (others.get(key) ?? 0),
    change(key, by) {
      const count = (own.get(key) ?? 0) + by
      set(own, key, count)
      notifyIfMoved(key, count)
    },
    apply: ({ key, count }) => set(others, key, count),
  }
}

/** The step of a limit that is `max` for `workers` together: what they have not reported is less than an eighth of it. */
export function stepOfLimit(max: number, workers: number): number {
  return Math.max(1, Math.floor(max / (8 * workers)))
}

/** Keeps nothing for what is none. */
export function set(counts: Map<string, number>, key: string, count: number): void {
  if (count === 0) counts.delete(key)
  else counts.set(key, count)
}
