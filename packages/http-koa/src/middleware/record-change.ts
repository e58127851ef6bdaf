import type { Middleware } from 'koa'
import type { AuditRecorder } from '../audit/audit-recorder.ts'
import { exchangeIn } from '../exchange/exchange.ts'
import type { HoldfastState } from '../exchange/holdfast-state.ts'

/**
 * Records in the audit trail how an upload or deletion of one file ended, or the making of a link, before the client learns
 * of it. Goes before the route, and after authentication.
 */
export function recordChange(
  event: 'upload' | 'delete' | 'link',
  recorder: AuditRecorder,
): Middleware<HoldfastState> {
  return async (ctx, next) => {
    const exchange = exchangeIn(ctx)
    const record = recorder(exchange)
    const subject = () => ({ file: ctx.state.fileName, bytes: ctx.state.stored?.size })
    try {
      await next()
    } catch (error) {
      await record(ctx.state.event ?? event, subject(), { error })
      throw error
    }
    // An upload by the draft that is not complete: the request that completes it is recorded.
    if (event === 'upload' && ctx.state.stored === undefined) return
    await (exchange.recording ?? record(ctx.state.event ?? event, subject()))
  }
}
