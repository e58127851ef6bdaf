import type { Context, Middleware, Next } from 'koa'
import { onExchangeEnd } from '../exchange/connection.ts'
import {
  customerOf,
  exchangeIn,
  type Entry,
  type Exchange,
  type HoldfastState,
} from '../exchange/exchange.ts'
import { networkOf, type AddressOf } from './address-of.ts'
import type { AuditRecorder } from './audit.ts'
import { createLogin, logIn, type Authenticate } from './authenticate.ts'
import type { TakeSlot } from './limit-requests.ts'
import { requestIdOf, type Reporter } from './request-log.ts'

interface EntranceSetup {
  readonly authenticate: Authenticate
  readonly takeSlot: TakeSlot
  readonly addressOf: AddressOf
  readonly recorder: AuditRecorder
}

/** The ways into the service. */
export interface Entrance {
  readonly enter: Enter
  readonly admit: Admit
  /** The middleware that admits customers. A refused login is recorded. */
  readonly customersOnly: Middleware<HoldfastState>
}

/** What all requests enter by: those that the fast path answers, and those that the application answers. */
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

/** Finds out who sent a request, and notes that in the state of the exchange. */
export type Identify = (exchange: Exchange) => Promise<void>

/**
 * Takes the steps before each route: gives the request an id, has it reported, finds out who sent it by `identify`, and takes a
 * slot among the requests under way. A second call by the same `identify` takes no step again: it returns the same entry.
 * Default of `identify`: the customer's login.
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
 * Has `next` handle a request that enters by `identify`. The request is refused before its body is read.
 *
 * A request keeps its slot until it has been answered and its response has been taken to the end, or its connection is
 * gone; so a slow reader keeps the slot. A request that is refused further in gives it back at once: it is read on only
 * for the sake of the connection.
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
