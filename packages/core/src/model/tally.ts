/** How many there are of each key. */
export interface Tally {
  count(key: string): number
  add(...keys: readonly string[]): void
  remove(...keys: readonly string[]): void
}

/** A {@link Tally} that keeps nothing for keys of which there are none. */
export function createTally(): Tally {
  const counts = new Map<string, number>()
  const count = (key: string) => counts.get(key) ?? 0
  return {
    count,
    add(...keys) {
      for (const key of keys) counts.set(key, count(key) + 1)
    },
    remove(...keys) {
      for (const key of keys) {
        if (count(key) > 1) counts.set(key, count(key) - 1)
        else counts.delete(key)
      }
    },
  }
}
