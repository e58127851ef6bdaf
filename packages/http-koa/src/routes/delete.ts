import type { RouterMiddleware } from '@koa/router'
import type { HoldfastState } from '../exchange/holdfast-state.ts'
import { fileNameInPath } from './file-name-in-path.ts'
import { filesOf } from '../middleware/authenticate.ts'

/** DELETE /delete/:filename: deletes a file. */
export const remove: RouterMiddleware<HoldfastState> = async (ctx) => {
  await filesOf(ctx.state).delete(fileNameInPath(ctx))
  ctx.type = 'text/plain; charset=utf-8'
  ctx.body = 'OK'
}
