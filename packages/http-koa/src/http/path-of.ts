import type { Context } from 'koa'

/** The path that a request asks for; `undefined` where its target is no URL, such as `http://[::1/`, or has no path. */
export function pathOf(ctx: Context): string | undefined {
  try {
    // Koa parses the target when it is first asked for the path, and throws then.
    return ctx.path || undefined
  } catch {
    return undefined
  }
}
