import type { Middleware } from 'koa'
import type { WitnessOf } from '../audit/witness.ts'
import type { HoldfastState } from '../holdfast-state.ts'

/**
 * Tells the audit trail how an upload or deletion of one file ended, before the client is told. Goes before the route,
 * and behind authentication.
 */
export function createFileAudit(
  event: 'upload' | 'delete',
  witnessOf: WitnessOf,
): Middleware<HoldfastState> {
  return async (ctx, next) => {
    const tell = witnessOf(ctx)
    const subject = () => ({ file: ctx.state.fileName, bytes: ctx.state.stored?.size })
    try {
      await next()
    } catch (error) {
      await tell(event, subject(), { error })
      throw error
    }
    await tell(event, subject())
  }
}
