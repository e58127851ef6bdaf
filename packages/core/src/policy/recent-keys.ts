/** The keys that were added last. */
export interface RecentKeys {
  has(key: string): boolean
  add(key: string): void
}

/** {@link RecentKeys} of at most `limit` keys, without those whose last addition is longest ago. */
export function createRecentKeys(limit: number): RecentKeys {
  const keys = new Set<string>()
  return {
    has: (key) => keys.has(key),
    add(key) {
      keys.delete(key)
      keys.add(key)
      for (const oldest of keys) {
        if (keys.size <= limit) return
        keys.delete(oldest)
      }
    },
  }
}
