import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { Context, Middleware } from 'koa'
import { codeOf, hasOriginForm } from '../http/problems.ts'
import { connectionOf, onExchangeEnd } from '../server/connection.ts'
import {
  customerOf,
  exchangeIn,
  type AnsweredRequest,
  type Exchange,
  type HoldfastState,
  type OnAnswered,
} from '../server/exchange.ts'
import { createAddressOf, type AddressOf } from './address-of.ts'
import type { HttpLog } from './errors.ts'

/**
 * Call this when a request arrives; it reports the request after the response was sent or cut off. A second call for the same
 * request does nothing.
 */
export type Reporter = (exchange: Exchange, path: () => string | undefined) => void

/** A {@link Reporter} that calls `onAnswered`. `addressOf` gives the clients' addresses. */
export function createReporter(addressOf: AddressOf, onAnswered: OnAnswered): Reporter {
  const report: Reporter = (exchange, path) => {
    if (exchange.reporters.includes(report)) return
    exchange.reporters.push(report)
    const begin = performance.now()
    const address = addressOf(exchange.request)
    onExchangeEnd(exchange, () => onAnswered(describe(exchange, path(), begin, address)))
  }
  return report
}

/** The middleware that has each request that reaches it reported by `report`. */
export function reportRequests(report: Reporter): Middleware<HoldfastState> {
  return (ctx, next) => {
    report(exchangeIn(ctx), () => pathOf(ctx))
    return next()
  }
}

/** `onAnswered`, whose errors are only logged. */
export function catchingErrors(onAnswered: OnAnswered, log: HttpLog): OnAnswered {
  return (answered) => {
    try {
      onAnswered(answered)
    } catch (error) {
      log.error({ requestId: answered.requestId, err: error }, 'onAnswered failed')
    }
  }
}

/**
 * The bytes that moved on the connection since the exchange before ended. They cannot be counted from the begin of this
 * exchange, since the head of its request has arrived before that.
 */
function takeBytes(exchange: Exchange): Pick<AnsweredRequest, 'bytesIn' | 'bytesOut'> {
  if (exchange.bytes) return exchange.bytes
  const { socket } = exchange.request
  const { reported } = connectionOf(socket)
  const bytesIn = socket.bytesRead - reported.in
  const bytesOut = socket.bytesWritten - reported.out
  reported.in += bytesIn
  reported.out += bytesOut
  return (exchange.bytes = { bytesIn, bytesOut })
}

/** Makes one literal: to spread objects into it would take as much time as the rest of a report. */
function describe(
  exchange: Exchange,
  path: string | undefined,
  begin: number,
  address: string,
): AnsweredRequest {
  const { request, response, state } = exchange
  const { requestId, route = 'other', failure } = state
  const { bytesIn, bytesOut } = takeBytes(exchange)
  const customer = customerOf(state)
  return {
    requestId,
    route,
    customer: customer?.name,
    login: customer?.login,
    isByLink: state.link !== undefined,
    code: failure === undefined ? undefined : codeOf(failure),
    reason: failure instanceof Error ? failure.message : undefined,
    failure,
    method: request.method,
    path,
    // Before a response has begun, `statusCode` is only Koa's default, 404.
    status: response.headersSent ? response.statusCode : undefined,
    isAborted: !response.writableFinished,
    durationMs: performance.now() - begin,
    bytesIn,
    bytesOut,
    address,
  }
}

/** The path of a request; `undefined` if the target was refused before its path was looked for, such as `http://[::1/`. */
function pathOf(ctx: Context): string | undefined {
  return hasOriginForm(ctx.req.url ?? '') ? ctx.path : undefined
}

const acceptable = /^[\w.:-]{1,128}$/

/**
 * Gives every request an id, in the answer's `x-request-id` and in the log. An `x-request-id` that the request brings, for
 * example from a proxy, is kept if it is harmless in a log.
 */
export const requestId: Middleware<HoldfastState> = (ctx, next) => {
  const { state } = exchangeIn(ctx)
  state.requestId ??= requestIdOf(ctx.req)
  ctx.set('x-request-id', state.requestId)
  return next()
}

/** The id of a request that has just arrived. */
export function requestIdOf({ headers }: IncomingMessage): string {
  const given = headers['x-request-id']
  return typeof given === 'string' && acceptable.test(given) ? given : randomUUID()
}

/**
 * Writes one line for each request after its answer was sent or cut off. `addressOf` gives the client's address. Default: the
 * address of the connection's peer.
 */
export function createAccessLog(
  log: HttpLog,
  addressOf: AddressOf = createAddressOf(),
): Middleware<HoldfastState> {
  return reportRequests(createReporter(addressOf, logAnswers(log)))
}

/** Writes one line for each request that is reported to it. */
export function logAnswers(log: HttpLog): OnAnswered {
  return (answered) => {
    // A rest pattern would copy the other fields one by one.
    const { requestId, method, path, status, isAborted, durationMs } = answered
    const { bytesIn, bytesOut, customer, login, isByLink, address, reason } = answered
    // One literal: to spread optional fields into it would take as long as the rest of the line. JSON has no fields that are undefined.
    log.info(
      {
        requestId,
        method,
        path,
        status,
        aborted: isAborted || undefined,
        durationMs: Math.round(durationMs * 10) / 10,
        bytesIn,
        bytesOut,
        customer,
        login,
        link: isByLink || undefined,
        address,
        reason,
      },
      'request',
    )
  }
}
