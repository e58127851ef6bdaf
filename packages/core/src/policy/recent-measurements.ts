import { createRecentValues } from './recent-values.ts'

/** Measures by key. Calls for one key at a time share a measurement. */
export type Measure<Value> = (key: string) => Promise<Value>

/** A measurement that takes less, in milliseconds, is made anew by every call. */
const quickMs = 100

/** How many times as long as it took a measurement is used. */
const reuse = 20

/** How long it is used at most, in milliseconds. */
const longestMs = 10 * 60_000

/** How many slow measurements are remembered. */
const mostKept = 1000

/**
 * `measure`, whose results are used for 20 times as long as they took, so that who asks again and again costs a twentieth of a
 * processor at most. Quick ones are always exact. `now` is in milliseconds, and never goes back.
 */
export function createRecentMeasurements<Value>(
  measure: Measure<Value>,
  now: () => number = () => performance.now(),
): Measure<Value> {
  const underWay = new Map<string, Promise<Value>>()
  const recent = createRecentValues<{ readonly value: Value; readonly until: number }>(mostKept)

  const measureNow = async (key: string) => {
    const began = now()
    const value = await measure(key)
    const took = now() - began
    if (took >= quickMs) {
      recent.set(key, { value, until: now() + Math.min(took * reuse, longestMs) })
    }
    return value
  }

  return async (key) => {
    const known = recent.get(key)
    if (known && now() < known.until) return known.value
    const found = underWay.get(key) ?? measureNow(key).finally(() => underWay.delete(key))
    underWay.set(key, found)
    return found
  }
}
