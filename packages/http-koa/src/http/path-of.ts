import type { Context } from 'koa'
import { isRequestTarget } from './request-problem.ts'

/** The path that a request asks for; `undefined` where its target is no URL, such as `http://[::1/`, or has no path. */
export function pathOf(ctx: Context): string | undefined {
  return isRequestTarget(ctx.req.url ?? '') ? ctx.path || undefined : undefined
}
