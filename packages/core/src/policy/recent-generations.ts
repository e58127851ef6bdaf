import { nameProblem } from '../model/file-name.ts'
import type { LinkGenerations } from '../ports/link-generations.ts'
import { createRecentValues } from './recent-values.ts'

/** The generations of links, which every use of a link asks for. */
export interface RecentGenerations {
  /** The customer's generation of half a second ago, or a later one. */
  recent(customer: string): Promise<string>
  /** The present one. */
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

/** @param generations of the store; if it has none, links end with the password only */
export function createRecentGenerations(
  generations: LinkGenerations | undefined,
  now: () => number = () => performance.now(),
): RecentGenerations {
  const readings = createRecentValues<Reading>(mostCustomers)
  const note = (customer: string, generation: Promise<string>): Promise<string> => {
    const reading = { generation, endsAt: now() + recentMs }
    readings.set(customer, reading)
    generation.catch(() => {
      if (readings.get(customer) === reading)
        readings.set(customer, { generation, endsAt: -Infinity })
    })
    return generation
  }
  const present = async (customer: string): Promise<string> => {
    // A stranger's link may name anything.
    if (generations === undefined || nameProblem(customer) !== undefined) return ''
    return generations.read(customer)
  }
  return {
    present,
    async recent(customer) {
      if (generations === undefined) return ''
      const reading = readings.get(customer)
      const isRecent = reading !== undefined && now() < reading.endsAt
      return isRecent ? reading.generation : note(customer, present(customer))
    },
    async renew(customer) {
      if (generations === undefined) throw new TypeError('The store cannot end links')
      await note(customer, generations.renew(customer))
    },
  }
}
