import type { Context, Middleware, Next } from 'koa'
import {
  countOf,
  createKeyedCounter,
  FileServiceError,
  type UseCount,
  type UseCounter,
} from '@holdfast/core'
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
  /** Gives a request an id, and has it reported at its end. */
  readonly receive: (exchange: Exchange) => void
  readonly enter: Enter
  readonly admit: Admit
  /** The middleware that admits customers. A refused login is recorded. */
  readonly customersOnly: Middleware<HoldfastState>
}

/** Makes the {@link Entrance} that the fast path and the application share. */
export function createEntrance(setup: EntranceSetup, report: Reporter): Entrance {
  const { authenticate, recorder } = setup
  const receive = (exchange: Exchange) => {
    const { request, state } = exchange
    state.requestId ??= requestIdOf(request)
    report(exchange, () => request.url)
  }
  const enter = createEnter(setup, receive)
  const admit = createAdmit(enter)
  const login = createLogin(authenticate, recorder)
  return {
    receive,
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
 * Does what comes before each route of customers: receives the request, finds out by `identify` who sent it,
 * and takes a slot among the requests under way. A second call with the same `identify` only returns the same entry. Default of
 * `identify`: the customer's login.
 */
export type Enter = (exchange: Exchange, identify?: Identify) => Entry

function createEnter(
  { authenticate, takeSlot, addressOf }: EntranceSetup,
  receive: Entrance['receive'],
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
    receive(exchange)
    const { entry } = exchange
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

/** Counts the requests under way. Applications that share these counters share their limits. */
export interface RequestCounters {
  /** All requests. */
  readonly all: UseCount
  /** All requests by links. */
  readonly byLinks: UseCount
  /** The requests of each customer that are not by links, by the customer's name. */
  readonly perCustomer: UseCounter
  /** The requests by links of each customer, by the customer's name. */
  readonly byLinksPerCustomer: UseCounter
  /** The requests by links from each network, as in `192.0.2.1` or `2001:db8::/64`. */
  readonly byLinksPerNetwork: UseCounter
}

/** Counters of this process. */
export function createRequestCounters(): RequestCounters {
  return {
    all: countOf(createKeyedCounter(), ''),
    byLinks: countOf(createKeyedCounter(), ''),
    perCustomer: createKeyedCounter(),
    byLinksPerCustomer: createKeyedCounter(),
    byLinksPerNetwork: createKeyedCounter(),
  }
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
  readonly requestCounters: RequestCounters
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
  requestCounters,
}: RequestLimits): TakeSlot {
  const { all, byLinks, perCustomer, byLinksPerCustomer, byLinksPerNetwork } = requestCounters
  const most = linkLimits(maxRequests)
  const total = { uses: all, most: maxRequests, whose: '' }
  const totalByLinks = { uses: byLinks, most: most.byLinks, whose: ' by links' }
  const limitsOf = (customer: string, visitor?: string): readonly Limit[] => {
    const each = (counter: UseCounter, whose: string): Limit => ({
      uses: countOf(counter, customer),
      most: maxRequestsPerCustomer,
      whose,
    })
    if (visitor === undefined) return [total, each(perCustomer, ` of "${customer}"`)]
    const ofCustomer = each(byLinksPerCustomer, ` by links of "${customer}"`)
    if (isExempt(visitor)) return [total, totalByLinks, ofCustomer]
    const uses = countOf(byLinksPerNetwork, visitor)
    const ofNetwork = { uses, most: most.fromNetwork, whose: ` by links from ${visitor}` }
    return [total, totalByLinks, ofCustomer, ofNetwork]
  }
  return (customer, visitor) => {
    const limits = limitsOf(customer, visitor)
    for (const limit of limits) if (limit.uses.count() >= limit.most) throw overloaded(limit)
    for (const { uses } of limits) uses.change(1)
    return () => {
      for (const { uses } of limits) uses.change(-1)
    }
  }
}

/** How many requests may be under way. */
interface Limit {
  /** Those that are. */
  readonly uses: UseCount
  readonly most: number
  readonly whose: string
}

function overloaded({ most, whose }: Limit): FileServiceError {
  const message = `${most} requests${whose} are under way already`
  return new FileServiceError('overloaded', message, { retryAfterMs })
}
