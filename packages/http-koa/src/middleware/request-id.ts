import { randomUUID } from 'node:crypto'
import type { Middleware } from 'koa'
import type { HoldfastState } from '../holdfast-state.ts'

const acceptable = /^[\w.:-]{1,128}$/

/**
 * Gives every request an id, in the answer's `x-request-id` and in the log. A proxy's own is kept if it is harmless
 * in a log.
 */
export const requestId: Middleware<HoldfastState> = (ctx, next) => {
  const given = ctx.get('x-request-id')
  ctx.state.requestId ??= acceptable.test(given) ? given : randomUUID()
  ctx.set('x-request-id', ctx.state.requestId)
  return next()
}
