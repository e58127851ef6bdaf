import type { RouterMiddleware } from '@koa/router'
import { problems } from '../errors/problem.ts'
import type { HoldfastState } from '../exchange/holdfast-state.ts'
import { hasLink } from '../links/open-link.ts'

export type Handler = RouterMiddleware<HoldfastState>

/** What a path knows, by method. */
export type Handlers = Partial<
  Record<'get' | 'post' | 'put' | 'patch' | 'delete', readonly Handler[]>
>

/** What a path knows only in requests with a link. */
export type HandlersByLink = Pick<Handlers, 'post'>

/** `handler` for requests with a link; others go on to the next one. */
export function ifByLink(handler: Handler): Handler {
  return (ctx, next) => {
    const handling: unknown = hasLink(ctx) ? handler(ctx, next) : next()
    return handling
  }
}

/** Answers OPTIONS, with `about` beside, and every method that a path does not know (RFC 9110 §15.5.6). */
export function createOtherMethods(
  handlers: Handlers,
  about: Readonly<Record<string, string>>,
  byLink: HandlersByLink,
): Handler {
  const [allow, allowByLink] = [handlers, { ...handlers, ...byLink }].map(allowed)
  return (ctx) => {
    const known = (hasLink(ctx) ? allowByLink : allow) ?? ''
    if (ctx.method !== 'OPTIONS') throw problems.methodNotAllowed(known)
    ctx.status = 204
    ctx.set({ Allow: known, ...about })
  }
}

function allowed(handlers: Handlers): string {
  const known = Object.keys(handlers).flatMap((method) =>
    method === 'get' ? ['GET', 'HEAD'] : [method.toUpperCase()],
  )
  return [...known, 'OPTIONS'].join(', ')
}
