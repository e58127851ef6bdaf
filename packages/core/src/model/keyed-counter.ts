/** Counts how many uses of one thing are under way. */
export interface UseCount {
  count(): number
  change(by: 1 | -1): void
}

/** Counts by key how many uses are under way. */
export interface UseCounter {
  count(key: string): number
  change(key: string, by: 1 | -1): void
}

/** The count of one key of `counter`. */
export function countOf(counter: UseCounter, key: string): UseCount {
  return { count: () => counter.count(key), change: (by) => counter.change(key, by) }
}

/** A count for each key. */
export interface KeyedCounter extends UseCounter {
  /** Adds `by`, which may be negative, and returns the new count. */
  change(key: string, by: number): number
  set(key: string, count: number): void
  /** The keys whose count is not 0 at present. */
  keys(): readonly string[]
}

/** A {@link KeyedCounter} that uses no memory for a key whose count is 0. */
export function createKeyedCounter(): KeyedCounter {
  const counts = new Map<string, number>()
  // To look up a string that was just concatenated, the engine has to copy and hash it.
  const count = (key: string) => (counts.size === 0 ? 0 : (counts.get(key) ?? 0))
  const set = (key: string, next: number) => {
    if (next === 0) counts.delete(key)
    else counts.set(key, next)
  }
  return {
    count,
    change(key, by) {
      const next = count(key) + by
      set(key, next)
      return next
    },
    set,
    keys: () => [...counts.keys()],
  }
}
