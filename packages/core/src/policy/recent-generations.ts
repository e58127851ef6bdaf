import { nameProblem } from '../model/file-name.ts'
import type { LinkGenerations } from '../ports/link-generations.ts'
import { createRecentValues } from './recent-values.ts'

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
