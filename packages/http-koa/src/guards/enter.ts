import type { IncomingMessage } from 'node:http'
import type { Context, Middleware, Next } from 'koa'
import {
  countOf,
  createKeyedCounter,
  FileServiceError,
  type UseCount,
  type UseCounter,
  type CustomerFiles,
  type FileService,
} from '@holdfast/core'
import { decodeHeaderText, headerValues } from '../http/text.ts'
import { onExchangeEnd, leavingSignal } from '../server/connection.ts'
import {
  customerOf,
  exchangeIn,
  type Entry,
  type Exchange,
  type HoldfastState,
  knownExchange,
} from '../server/exchange.ts'
import { networkOf, type AddressOf, createAddressOf } from './address-of.ts'
import { type AuditRecorder, noRecorder } from './audit.ts'
import type { HttpLog } from './errors.ts'
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
type Identify = (exchange: Exchange) => Promise<void>

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
    const identifyAndTakeSlot = async () => {
      await identify(exchange)
      const { request, state } = exchange
      const visitor = state.link && networkOf(addressOf(request))
      giveBack = takeSlot(customerIn(state).name, visitor)
    }
    const release = () => {
      giveBack?.()
      giveBack = undefined
    }
    return { by: identify, entered: identifyAndTakeSlot(), release }
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

/**
 * Finds out who sent a request: resolves with the files of that customer, or rejects. A rejection with a `FileServiceError` is
 * answered by its code; one with an `HttpProblem` has the application's own status and message, such as 401 for an ended session.
 */
export type Authenticate = (request: IncomingMessage) => Promise<CustomerFiles>

/**
 * Authenticates by the headers `x-auth-name` and `x-auth-password`, in UTF-8, each exactly once. `addressOf` gives the address
 * of a request to the service's brake on bad logins. Default: the address of the connection's peer. For the brake, an IPv6
 * network of 64 bits is one address. A login stops waiting when its client leaves.
 */
export function headerAuthentication(
  service: FileService,
  addressOf: AddressOf = createAddressOf(),
): Authenticate {
  // Async, so that wrong headers cause a rejection, too.
  return async (request) => {
    const name = soleHeader(request, 'x-auth-name')
    const password = soleHeader(request, 'x-auth-password')
    if (name === '' && password === '' && request.headers.authorization !== undefined) {
      throw otherHeaders()
    }
    const address = networkOf(addressOf(request))
    const signal = leavingSignal(request.socket)
    return await service.authenticate({ name, password, address, signal })
  }
}

/** The error for `Authorization`, as `curl -u` sends it. The client gets the usual 401; only the log has this message. */
function otherHeaders(): FileServiceError {
  return new FileServiceError(
    'missing-credentials',
    'Authorization is not read: the name goes into x-auth-name, and the password into x-auth-password',
  )
}

/**
 * The value of `header`; empty if it is missing. A header that is sent twice is refused: the joined values could be the name of
 * another customer.
 */
function soleHeader(request: IncomingMessage, header: string): string {
  const values = headerValues(request, header)
  if (values.length > 1)
    throw new FileServiceError('missing-credentials', `${header} is sent twice`)
  return decodeHeaderText(values[0] ?? '')
}

/** The files of the customer who sent the request. Calls `authenticate` only once for each request, since failed logins count. */
function logIn(exchange: Exchange, authenticate: Authenticate): Promise<CustomerFiles> {
  if (exchange.login?.by !== authenticate) {
    exchange.login = { by: authenticate, files: authenticate(exchange.request) }
  }
  return exchange.login.files
}

/**
 * Refuses requests that are not from a customer, and puts the customer's files into `ctx.state.files`. Refused logins are
 * recorded by `recorder`. Default: they are not recorded.
 */
export function createAuthentication(
  authenticate: Authenticate,
  recorder: AuditRecorder = noRecorder,
): Middleware<HoldfastState> {
  const login = createLogin(authenticate, recorder)
  return async (ctx, next) => {
    ctx.state.files = await login(exchangeIn(ctx))
    await next()
  }
}

/** {@link logIn} by `authenticate`. Records a refused login by `recorder` before it rejects. */
function createLogin(
  authenticate: Authenticate,
  recorder: AuditRecorder,
): (exchange: Exchange) => Promise<CustomerFiles> {
  return async (exchange) => {
    const record = recorder(exchange)
    try {
      return await logIn(exchange, authenticate)
    } catch (error) {
      await record('login', { customer: presentedName(exchange.request) }, { error })
      throw error
    }
  }
}

/** The customer's name that the client has sent. */
function presentedName(request: IncomingMessage): string | undefined {
  const names = headerValues(request, 'x-auth-name')
  return names.length === 0 ? undefined : decodeHeaderText(names.join(', '))
}

/** The files of the customer who sent the request, or whose link let it in. Call this after authentication only. */
export function filesOf(state: HoldfastState): CustomerFiles {
  if (state.files === undefined) throw new TypeError('The route is not behind authentication')
  return state.files
}

/** The result of a login. */
export interface LoginResult {
  readonly request: IncomingMessage
  /** Why the login was refused, or failed. Left out if it was accepted. */
  readonly error?: unknown
}

/** Called with each login once it is decided. */
export type OnLogin = (result: LoginResult) => void

/** `authenticate`, which then also reports every login to `onLogin`. An error that `onLogin` throws is only logged. */
export function reportLogins(
  authenticate: Authenticate,
  onLogin: OnLogin,
  log: HttpLog,
): Authenticate {
  const report = (result: LoginResult) => {
    try {
      onLogin(result)
    } catch (error) {
      const requestId = knownExchange(result.request)?.state.requestId
      log.error({ requestId, err: error }, 'onLogin failed')
    }
  }
  return async (request) => {
    try {
      const files = await authenticate(request)
      report({ request })
      return files
    } catch (error) {
      report({ request, error })
      throw error
    }
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

/** A limit of requests under way. */
interface Limit {
  /** The requests that are under way now. */
  readonly uses: UseCount
  readonly most: number
  readonly whose: string
}

function overloaded({ most, whose }: Limit): FileServiceError {
  const message = `${most} requests${whose} are under way already`
  return new FileServiceError('overloaded', message, { retryAfterMs })
}
