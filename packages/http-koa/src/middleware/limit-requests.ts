import { FileServiceError } from '@holdfast/core'
import type { Middleware } from 'koa'
import { customerOf } from '../exchange/customer-of.ts'
import { exchangeIn } from '../exchange/exchange.ts'
import { onExchangeEnd } from '../exchange/endings.ts'
import type { HoldfastState } from '../exchange/holdfast-state.ts'

/** When a client that was refused for want of a place may come back, in milliseconds. */
const retryAfterMs = 1_000

/** Counts requests under way by key, as a `KeyedCounter` of core does. */
export interface RequestCounter {
  /** How many there are of a key. */
  count(key: string): number
  change(key: string, by: 1 | -1): void
}

/**
 * Takes a place for a request of a customer, and returns the function that gives it back. Requests by links have places of
 * their own: those who have a link must not keep the customer out.
 *
 * @throws FileServiceError `overloaded` when there is none
 */
export type TakePlace = (customer: string, isByLink?: boolean) => () => void

export interface RequestLimits {
  /** How many requests may be under way at a time. */
  readonly maxRequests: number
  /** The same for one customer. */
  readonly maxRequestsPerCustomer: number
  /**
   * Counts all requests under the empty key, those of each customer under the name, and those by the customer's links under
   * `link/` and the name.
   */
  readonly requestCounter: RequestCounter
}

/** The {@link TakePlace} of these limits. */
export function createRequestLimit({
  maxRequests,
  maxRequestsPerCustomer,
  requestCounter,
}: RequestLimits): TakePlace {
  return (customer, isByLink = false) => {
    // No name has a slash.
    const key = isByLink ? `link/${customer}` : customer
    if (requestCounter.count('') >= maxRequests) throw overloaded(maxRequests, '')
    if (requestCounter.count(key) >= maxRequestsPerCustomer) {
      const whose = isByLink ? ` by links of "${customer}"` : ` of "${customer}"`
      throw overloaded(maxRequestsPerCustomer, whose)
    }
    const change = (by: 1 | -1) => {
      requestCounter.change('', by)
      requestCounter.change(key, by)
    }
    change(1)
    return () => change(-1)
  }
}

function overloaded(max: number, whose: string): FileServiceError {
  const message = `${max} requests${whose} are under way already`
  return new FileServiceError('overloaded', message, { retryAfterMs })
}

/**
 * Refuses requests for which there is no place, before their body is read. Goes after authentication.
 *
 * A request is under way until it has been answered and its response has been taken to the end, or its connection is
 * gone; so a slow reader keeps the place. A request that is refused further in gives it back at once: it is read on only
 * for the sake of the connection.
 */
export function limitRequests(takePlace: TakePlace): Middleware<HoldfastState> {
  return async (ctx, next) => {
    const { state } = ctx
    const customer = customerOf(state)
    if (customer === undefined) throw new TypeError('The route is not behind authentication')
    const leave = takePlace(customer.name, state.link !== undefined)
    try {
      await next()
    } catch (error) {
      leave()
      throw error
    }
    onExchangeEnd(exchangeIn(ctx), leave)
  }
}
