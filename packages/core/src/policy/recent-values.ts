/** Remembers the values that were set last, by key. */
export interface RecentValues<Value> {
  get(key: string): Value | undefined
  set(key: string, value: Value): void
}

/** {@link RecentValues} of at most `limit` keys: beyond that it drops the keys that were set longest ago. */
export function createRecentValues<Value>(limit: number): RecentValues<Value> {
  const values = new Map<string, Value>()
  return {
    get: (key) => values.get(key),
    set(key, value) {
      values.delete(key)
      values.set(key, value)
      for (const oldest of values.keys()) {
        if (values.size <= limit) return
        values.delete(oldest)
      }
    },
  }
}
