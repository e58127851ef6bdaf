import type { CustomerFiles, FileLinks, Link } from '@holdfast/core'
import type { RouterMiddleware } from '@koa/router'
import type { OriginOf } from '../address/origin-of.ts'
import type { HoldfastState } from '../exchange/holdfast-state.ts'
import { filesOf } from '../middleware/authenticate.ts'
import { fileNameInPath } from './file-name-in-path.ts'
import type { LinkRequest } from '../links/link-schema.ts'
import { readLinkRequest } from '../links/read-link-request.ts'

/** POST /link/:filename: a URL that opens the file for anyone, or takes one from anyone, for a time. */
export function createMakeLink(
  { maxAgeMs }: FileLinks,
  originOf: OriginOf,
): RouterMiddleware<HoldfastState> {
  const maxSeconds = Math.max(1, Math.floor(maxAgeMs / 1000))
  return async (ctx) => {
    const name = fileNameInPath(ctx)
    const files = filesOf(ctx.state)
    const asked = await readLinkRequest(ctx.req, maxSeconds)
    const isUpload = asked.verb === 'upload'
    if (isUpload) ctx.state.event = 'upload-link'
    const { token, expiresAt } = await sign(files, name, asked, maxAgeMs)
    // What comes before the path of the route is that of an application around it, if any.
    const [before = ''] = /^.*(?=\/link\/[^/]*$)/su.exec(pathIn(ctx.originalUrl)) ?? []
    const path = `${before}/${isUpload ? 'upload' : 'serve'}/${encodeURIComponent(name)}`
    const query = `link=${encodeURIComponent(token)}`
    ctx.set('Cache-Control', 'no-store')
    ctx.type = 'application/json; charset=utf-8'
    ctx.body = JSON.stringify({
      url: `${originOf(ctx.req)}${path}?${query}`,
      expires: expiresAt.toISOString(),
    })
  }
}

async function sign(
  files: CustomerFiles,
  name: string,
  { verb, expiresIn, inline, prefix, ...bounds }: LinkRequest,
  maxAgeMs: number,
): Promise<Link> {
  if (!files.link || !files.uploadLink) throw new TypeError('The service has no links')
  const age = expiresIn !== undefined && { expiresInMs: Math.min(expiresIn * 1000, maxAgeMs) }
  if (verb !== 'upload')
    return files.link(name, { ...(inline !== undefined && { inline }), ...age })
  const isPrefix = prefix !== undefined && { isPrefix: prefix }
  return files.uploadLink(name, { ...bounds, ...isPrefix, ...age })
}

function pathIn(target: string): string {
  const [path = ''] = target.replace(/^[a-z]+:\/\/[^/?]*/iu, '').split('?')
  return path
}
