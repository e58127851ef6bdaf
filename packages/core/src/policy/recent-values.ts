import { nameProblem } from '../model/file-name.ts'
import type { LinkGenerations } from '../ports/store-capabilities.ts'

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

/** Measures by key. Calls for one key at a time share a measurement. */
export type Measure<Value> = (key: string) => Promise<Value>

/** A measurement that takes less, in milliseconds, is made anew by every call. */
const quickMs = 100

/** A measurement is reused for this many times as long as it took. */
const reuseFactor = 20

/** The longest time for which a measurement is reused, in milliseconds. */
const longestMs = 10 * 60_000

/** How many slow measurements are remembered. */
const mostMeasurements = 1000

/**
 * `measure`, whose results are reused for 20 times as long as they took, so that repeated calls cost at most a twentieth of a
 * processor. A quick measurement is always made anew, and so is exact. `now` is in milliseconds, and never goes back.
 */
export function createRecentMeasurements<Value>(
  measure: Measure<Value>,
  now: () => number = () => performance.now(),
): Measure<Value> {
  const underWay = new Map<string, Promise<Value>>()
  const recent = createRecentValues<{ readonly value: Value; readonly until: number }>(
    mostMeasurements,
  )

  const measureNow = async (key: string) => {
    const began = now()
    const value = await measure(key)
    const took = now() - began
    if (took >= quickMs) {
      recent.set(key, { value, until: now() + Math.min(took * reuseFactor, longestMs) })
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

/** The generations of links, which every use of a link asks for. */
export interface RecentGenerations {
  /** The customer's generation of half a second ago, or a later one. */
  recent(customer: string): Promise<string>
  /** The present one, which is the recent one from then on. */
  present(customer: string): Promise<string>
  /** Ends all links that the customer has made. */
  renew(customer: string): Promise<void>
}

/** Milliseconds after which the store is asked again. */
const recentMs = 500
const mostCustomers = 1_000

interface Reading {
  readonly generation: Promise<string>
  readonly endsAt: number
}

const noReading: Reading = { generation: Promise.resolve(''), endsAt: -Infinity }

/** @param generations of the store; if it has none, links end with the password only */
export function createRecentGenerations(
  generations: LinkGenerations | undefined,
  now: () => number = () => performance.now(),
): RecentGenerations {
  const readings = createRecentValues<Reading>(mostCustomers)
  const present = (customer: string): Promise<string> => {
    // A stranger's link may name anything.
    if (generations === undefined || nameProblem(customer) !== undefined) return Promise.resolve('')
    const reading = { generation: generations.read(customer), endsAt: now() + recentMs }
    readings.set(customer, reading)
    reading.generation.catch(() => {
      if (readings.get(customer) === reading) readings.set(customer, noReading)
    })
    return reading.generation
  }
  return {
    present,
    async recent(customer) {
      const { generation, endsAt } = readings.get(customer) ?? noReading
      return now() < endsAt ? generation : present(customer)
    },
    async renew(customer) {
      if (generations === undefined) throw new TypeError('The store cannot end links')
      try {
        await generations.renew(customer)
      } finally {
        // Links may have been used meanwhile. A failed renewal may have begun a generation, too.
        readings.set(customer, noReading)
      }
    },
  }
}
