import type { Middleware } from 'koa'

/** GET /ping: says that the server is there. Asks for no credentials and touches no store. */
export const ping: Middleware = (ctx) => {
  ctx.type = 'text/plain; charset=utf-8'
  ctx.body = 'pong'
}
