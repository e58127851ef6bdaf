import type { Middleware } from 'koa'
import { connectionOf } from '../exchange/connection.ts'
import { customerOf } from '../exchange/customer-of.ts'
import { exchangeIn, type Exchange } from '../exchange/exchange.ts'
import { onExchangeEnd } from '../exchange/endings.ts'
import type { AnsweredRequest, OnAnswered } from '../exchange/answered-request.ts'
import type { HoldfastState } from '../exchange/holdfast-state.ts'
import type { AddressOf } from '../address/address-of.ts'
import type { HttpLog } from '../errors/log.ts'
import { pathOf } from '../http/path-of.ts'
import { codeOf } from '../errors/status.ts'

/**
 * Reports a request that has just arrived, once its response has been sent or cut off. A second call for the same request
 * does nothing.
 */
export type Reporter = (exchange: Exchange, path: () => string | undefined) => void

/** A {@link Reporter} to `onAnswered`. `addressOf` says where requests come from. */
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

/** The middleware that has every request reported that comes to it. */
export function reportRequests(report: Reporter): Middleware<HoldfastState> {
  return (ctx, next) => {
    report(exchangeIn(ctx), () => pathOf(ctx))
    return next()
  }
}

/** `onAnswered`; what it throws is logged, and harms nothing else. */
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
 * What has moved on the connection since the exchange before it was over. The head of a request has arrived before
 * its exchange begins.
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

/** As one literal: objects that are spread into it would cost as much as all else about a report. */
function describe(
  exchange: Exchange,
  path: string | undefined,
  begin: number,
  address: string,
): AnsweredRequest {
  const { request, response, state } = exchange
  const { requestId, route = 'other', failure } = state
  const { bytesIn, bytesOut } = takeBytes(exchange)
  return {
    requestId,
    route,
    customer: customerOf(state)?.name,
    isByLink: state.link !== undefined,
    code: failure === undefined ? undefined : codeOf(failure),
    reason: failure instanceof Error ? failure.message : undefined,
    method: request.method,
    path,
    // Where no response has begun there is only Koa's default, 404, which would be misleading.
    status: response.headersSent ? response.statusCode : undefined,
    isAborted: !response.writableFinished,
    durationMs: performance.now() - begin,
    bytesIn,
    bytesOut,
    address,
  }
}
