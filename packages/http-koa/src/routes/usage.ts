import type { RouterMiddleware } from '@koa/router'
import type { HoldfastState } from '../exchange/holdfast-state.ts'
import { filesOf } from '../middleware/authenticate.ts'

/** GET and HEAD /usage: how much the customer keeps, and may keep. */
export const usage: RouterMiddleware<HoldfastState> = async (ctx) => {
  const { files, bytes, quota, maxFiles, unfinished } = await filesOf(ctx.state).usage()
  ctx.type = 'application/json; charset=utf-8'
  ctx.set('Cache-Control', 'private, no-cache')
  ctx.body = JSON.stringify({ files, bytes, quota, maxFiles, unfinished })
}
