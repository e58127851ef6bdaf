/** Counts requests under way by key. */
export interface RequestTally {
  /** How many there are of a key. */
  count(key: string): number
  change(key: string, by: 1 | -1): void
}

/** A {@link RequestTally} of this process, which keeps nothing for keys of which there are none. */
export function createRequestTally(): RequestTally {
  const underWay = new Map<string, number>()
  return {
    count: (key) => underWay.get(key) ?? 0,
    change(key, by) {
      const count = (underWay.get(key) ?? 0) + by
      if (count === 0) underWay.delete(key)
      else underWay.set(key, count)
    },
  }
}
