import type { RouterMiddleware } from '@koa/router'
import { exchangeIn } from '../exchange/exchange.ts'
import type { HoldfastState } from '../exchange/holdfast-state.ts'
import { refuseConditions } from '../http/change-conditions.ts'
import { fileNameInPath } from './file-name-in-path.ts'
import { filesOf } from '../middleware/authenticate.ts'

/** DELETE /delete/:filename: deletes a file. */
export const remove: RouterMiddleware<HoldfastState> = async (ctx) => {
  refuseConditions(ctx.req.headers)
  await (exchangeIn(ctx).deleting ?? filesOf(ctx.state).delete(fileNameInPath(ctx)))
  ctx.type = 'text/plain; charset=utf-8'
  ctx.body = 'OK'
}
