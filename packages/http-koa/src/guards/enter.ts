import type { Context, Middleware, Next } from 'koa'
import { FileServiceError } from '@holdfast/core'
import { onExchangeEnd } from '../server/connection.ts'
import {
  customerOf,
  exchangeIn,
  type Entry,
  type Exchange,
  type HoldfastState,
} from '../server/exchange.ts'
import { networkOf, type AddressOf } from './address-of.ts'
import type { AuditRecorder } from './audit.ts'
import { createLogin, logIn, type Authenticate } from './authenticate.ts'
import { requestIdOf, type Reporter } from './request-log.ts'

interface EntranceSetup {
  readonly authenticate: Authenticate
  readonly takeSlot: TakeSlot
  readonly addressOf: AddressOf
  readonly recorder: AuditRecorder
}

/** The functions by which requests enter the service. */
export interface Entrance {
  readonly enter: Enter
  readonly admit: Admit
  /** The middleware that admits customers. A refused login is recorded. */
  readonly customersOnly: Middleware<HoldfastState>
}

/** Makes the {@link Entrance} that the fast path and the application share. */
export function createEntrance(setup: EntranceSetup, report: Reporter): Entrance {
  const { authenticate, recorder } = setup
  const enter = createEnter(setup, report)
  const admit = createAdmit(enter)
  const login = createLogin(authenticate, recorder)
  return {
    enter,
    admit,
    async customersOnly(ctx, next) {
      await login(exchangeIn(ctx))
      await admit(ctx, next)
    },
  }
}

/** Finds out who sent a request, and puts that into the state of the exchange. */
export type Identify = (exchange: Exchange) => Promise<void>

/**
 * Does what comes before each route: gives the request an id, has it reported at its end, finds out by `identify` who sent it,
 * and takes a slot among the requests under way. A second call with the same `identify` only returns the same entry. Default of
 * `identify`: the customer's login.
 */
export type Enter = (exchange: Exchange, identify?: Identify) => Entry

function createEnter(
  { authenticate, takeSlot, addressOf }: EntranceSetup,
  report: Reporter,
): Enter {
  const customer: Identify = async (exchange) => {
    exchange.state.files = await logIn(exchange, authenticate)
  }
  const begin = (exchange: Exchange, identify: Identify): Entry => {
    let giveBack: (() => void) | undefined
    const admit = async () => {
      await identify(exchange)
      const { request, state } = exchange
      const visitor = state.link && networkOf(addressOf(request))
      giveBack = takeSlot(customerIn(state).name, visitor)
    }
    const release = () => {
      giveBack?.()
      giveBack = undefined
    }
    return { by: identify, entered: admit(), release }
  }
  return (exchange, identify = customer) => {
    const { request, state, entry } = exchange
    state.requestId ??= requestIdOf(request)
    report(exchange, () => request.url)
    if (entry?.by === identify) return entry
    return (exchange.entry = begin(exchange, identify))
  }
}

function customerIn(state: HoldfastState) {
  const customer = customerOf(state)
  if (customer === undefined) throw new TypeError('The route is not behind authentication')
  return customer
}

/**
 * Calls `next` for a request that may enter by `identify`. Other requests are refused before their body is read.
 *
 * A request keeps its slot until the client has taken the whole response, or its connection has ended; so a slow reader keeps
 * the slot. A request that `next` refuses gives its slot back at once: the rest of its body is only read to keep the connection.
 */
export type Admit = (
  ctx: Context & { state: HoldfastState },
  next: Next,
  identify?: Identify,
) => Promise<void>

function createAdmit(enter: Enter): Admit {
  return async (ctx, next, identify) => {
    const exchange = exchangeIn(ctx)
    const { entered, release } = enter(exchange, identify)
    await entered
    try {
      await next()
    } catch (error) {
      release()
      throw error
    }
    onExchangeEnd(exchange, release)
  }
}

/** After how long a client that got no slot may retry, in milliseconds. */
const retryAfterMs = 1_000

/** Counts requests under way by key, as a `KeyedCounter` of core does. */
export interface RequestCounter {
  /** How many requests of a key are under way. */
  count(key: string): number
  change(key: string, by: 1 | -1): void
}

/**
 * Takes a slot for a request of a customer, and returns the function that gives it back. Requests by links are limited
 * separately: they must not take all slots of the customer, or of all customers. `visitor` is the network from which a request
 * by a link comes; other requests have none.
 *
 * @throws FileServiceError `overloaded` when no slot is free
 */
export type TakeSlot = (customer: string, visitor?: string) => () => void

interface RequestLimits {
  /** How many requests may be under way at a time. */
  readonly maxRequests: number
  /** The same limit for one customer, and for all links of one customer. */
  readonly maxRequestsPerCustomer: number
  /** Whether the limit of requests by links from one network does not hold for `network`. */
  readonly isExempt: (network: string) => boolean
  /**
   * Counts all requests under the empty key, those of each customer under the customer's name, all by links under `link/`, those
   * by a customer's links under `link/` and the name, and those by links from a network under `from/` and the network.
   */
  readonly requestCounter: RequestCounter
}

/** How many of `maxRequests` may be by links, and how many of those may come from one network. */
export function linkLimits(maxRequests: number) {
  const byLinks = Math.ceil(maxRequests / 2)
  return { byLinks, fromNetwork: Math.min(byLinks, Math.max(1, Math.floor(byLinks / 8))) }
}

/** Makes a {@link TakeSlot} with these limits. */
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

/** A counter that a request adds to, and its limit. Names of customers have no slash, so they equal no other key. */
interface Share {
  readonly key: string
  readonly most: number
  readonly whose: string
}

function overloaded(max: number, whose: string): FileServiceError {
  const message = `${max} requests${whose} are under way already`
  return new FileServiceError('overloaded', message, { retryAfterMs })
}
