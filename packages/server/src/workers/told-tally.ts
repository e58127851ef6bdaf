import type { RequestTally } from '@holdfast/http-koa'

/** How many requests of a key are under way, from one process to another. */
export interface ToldCount {
  readonly key: string
  readonly count: number
}

/** A tally of this process and the others, as far as they have told. */
export interface ToldTally extends RequestTally {
  /** How many the others have of a key, all together. */
  readonly hear: (told: ToldCount) => void
}

/**
 * Counts what is under way here and what the others have told of. `tell` is called whenever a count has moved by
 * `stepOf` its key since it was told, or is nothing again: a few requests at a time, come and gone, are told to nobody.
 */
export function createToldTally(
  stepOf: (key: string) => number,
  tell: (told: ToldCount) => void,
): ToldTally {
  const own = new Map<string, number>()
  const told = new Map<string, number>()
  const others = new Map<string, number>()

  const tellIfMoved = (key: string, count: number) => {
    const before = told.get(key) ?? 0
    const isOver = count === 0 && before > 0
    if (!isOver && Math.abs(count - before) < stepOf(key)) return
    set(told, key, count)
    tell({ key, count })
  }
  return {
    count: (key) => (own.get(key) ?? 0) + (others.get(key) ?? 0),
    change(key, by) {
      const count = (own.get(key) ?? 0) + by
      set(own, key, count)
      tellIfMoved(key, count)
    },
    hear: ({ key, count }) => set(others, key, count),
  }
}

/** The step of a limit that is `max` for `workers` together: what they have not told is less than an eighth of it. */
export function stepOfLimit(max: number, workers: number): number {
  return Math.max(1, Math.floor(max / (8 * workers)))
}

/** Keeps nothing for what is none. */
export function set(counts: Map<string, number>, key: string, count: number): void {
  if (count === 0) counts.delete(key)
  else counts.set(key, count)
}
