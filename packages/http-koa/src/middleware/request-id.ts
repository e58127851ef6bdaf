import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { Middleware } from 'koa'
import { exchangeIn } from '../exchange/exchange.ts'
import type { HoldfastState } from '../exchange/holdfast-state.ts'

const acceptable = /^[\w.:-]{1,128}$/

/**
 * Gives every request an id, in the answer's `x-request-id` and in the log. A proxy's own is kept if it is harmless
 * in a log.
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
