import { FileServiceError } from '@holdfast/core'

/** When a client that was refused for want of a slot may come back, in milliseconds. */
const retryAfterMs = 1_000

/** Counts requests under way by key, as a `KeyedCounter` of core does. */
export interface RequestCounter {
  /** How many there are of a key. */
  count(key: string): number
  change(key: string, by: 1 | -1): void
}

/**
 * Takes a slot for a request of a customer, and returns the function that gives it back. Requests by links have slots of
 * their own: those who have a link must not keep out the customer, or all customers. `visitor` is the network that a request by a link
 * comes from; left out for others.
 *
 * @throws FileServiceError `overloaded` when there is none
 */
export type TakeSlot = (customer: string, visitor?: string) => () => void

export interface RequestLimits {
  /** How many requests may be under way at a time. */
  readonly maxRequests: number
  /** The same for one customer. */
  readonly maxRequestsPerCustomer: number
  /** Whether requests by links from this network count only with all others by links. */
  readonly isExempt: (network: string) => boolean
  /**
   * Counts all requests under the empty key, those of each customer under the name, all by links under `link/`, those by a
   * customer's links under `link/` and the name, and those by links from a network under `from/` and the network.
   */
  readonly requestCounter: RequestCounter
}

/** How many of all requests may be by links, and how many of those from one network. */
export function linkLimits(maxRequests: number) {
  const byLinks = Math.ceil(maxRequests / 2)
  return { byLinks, fromNetwork: Math.min(byLinks, Math.max(1, Math.floor(byLinks / 8))) }
}

/** The {@link TakeSlot} of these limits. */
export function createRequestLimit({
  maxRequests,
  maxRequestsPerCustomer,
  isExempt,
  requestCounter,
}: RequestLimits): TakeSlot {
  const { byLinks, fromNetwork } = linkLimits(maxRequests)
  const slots = (customer: string, visitor?: string): readonly Share[] => {
    const all = { key: '', most: maxRequests, whose: '' }
    if (visitor === undefined) {
      return [all, { key: customer, most: maxRequestsPerCustomer, whose: ` of "${customer}"` }]
    }
    const whose = ` by links of "${customer}"`
    const from = { key: `from/${visitor}`, most: fromNetwork, whose: ` by links from ${visitor}` }
    return [
      all,
      { key: 'link/', most: byLinks, whose: ' by links' },
      { key: `link/${customer}`, most: maxRequestsPerCustomer, whose },
      ...(isExempt(visitor) ? [] : [from]),
    ]
  }
  return (customer, visitor) => {
    const taken = slots(customer, visitor)
    for (const { key, most, whose } of taken) {
      if (requestCounter.count(key) >= most) throw overloaded(most, whose)
    }
    for (const { key } of taken) requestCounter.change(key, 1)
    return () => {
      for (const { key } of taken) requestCounter.change(key, -1)
    }
  }
}

/** What a request counts in. No name of a customer has a slash. */
interface Share {
  readonly key: string
  readonly most: number
  readonly whose: string
}

function overloaded(max: number, whose: string): FileServiceError {
  const message = `${max} requests${whose} are under way already`
  return new FileServiceError('overloaded', message, { retryAfterMs })
}
