import type { FileLinks } from '@holdfast/core'
import type { RouterMiddleware } from '@koa/router'
import type { OriginOf } from '../address/origin-of.ts'
import type { HoldfastState } from '../exchange/holdfast-state.ts'
import { filesOf } from '../middleware/authenticate.ts'
import { fileNameInPath } from './file-name-in-path.ts'
import { readLinkRequest } from '../links/read-link-request.ts'

/** POST /link/:filename: a URL that opens the file for anyone, for a time. */
export function createMakeLink(
  { maxAgeMs }: FileLinks,
  originOf: OriginOf,
): RouterMiddleware<HoldfastState> {
  const maxSeconds = Math.max(1, Math.floor(maxAgeMs / 1000))
  return async (ctx) => {
    const name = fileNameInPath(ctx)
    const files = filesOf(ctx.state)
    if (files.link === undefined) throw new TypeError('The service has no links')
    const { expiresIn, inline = false } = await readLinkRequest(ctx.req, maxSeconds)
    const { token, expiresAt } = await files.link(name, {
      inline,
      ...(expiresIn !== undefined && { expiresInMs: Math.min(expiresIn * 1000, maxAgeMs) }),
    })
    // What comes before the path of the route is that of an application around it, if any.
    const [before = ''] = /^.*(?=\/link\/[^/]*$)/su.exec(pathIn(ctx.originalUrl)) ?? []
    const query = `link=${encodeURIComponent(token)}`
    ctx.set('Cache-Control', 'no-store')
    ctx.type = 'application/json; charset=utf-8'
    ctx.body = JSON.stringify({
      url: `${originOf(ctx.req)}${before}/serve/${encodeURIComponent(name)}?${query}`,
      expires: expiresAt.toISOString(),
    })
  }
}

function pathIn(target: string): string {
  const [path = ''] = target.replace(/^[a-z]+:\/\/[^/?]*/iu, '').split('?')
  return path
}
