import type { RouterMiddleware } from '@koa/router'
import { filesOf } from '../guards/authenticate.ts'
import { refuseConditions } from '../http/conditional.ts'
import { problems } from '../http/problems.ts'
import type { HoldfastState } from '../server/exchange.ts'

/** DELETE /links: ends all links that the customer has made. */
export const revokeLinks: RouterMiddleware<HoldfastState> = async (ctx) => {
  refuseConditions(ctx.req.headers)
  const files = filesOf(ctx.state)
  if (files.revokeLinks === undefined) throw problems.notFound()
  await files.revokeLinks()
  ctx.type = 'text/plain; charset=utf-8'
  ctx.body = 'OK'
}
