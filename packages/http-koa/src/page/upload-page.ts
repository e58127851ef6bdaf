import { isFileServiceError, type LinkUploads } from '@holdfast/core'
import type { RouterMiddleware } from '@koa/router'
import { toProblem } from '../errors/status.ts'
import type { HoldfastState } from '../exchange/holdfast-state.ts'
import { hasLink } from '../links/open-link.ts'
import { asksForHtml, type PageFile, type PageFiles } from './page.ts'

/**
 * GET and HEAD of a link to upload, for clients that ask for HTML by name: the page by which a stranger uploads. It learns from
 * its `<meta name="link">` what the link allows, or that it is refused. `opening` judges the link.
 */
export function createUploadPage(
  open: () => Promise<PageFiles>,
  opening: RouterMiddleware<HoldfastState>,
): RouterMiddleware<HoldfastState> {
  return async (ctx, next) => {
    const isAsked = hasLink(ctx) && asksForHtml(ctx.get('Accept'))
    const file = isAsked ? (await open()).get('upload') : undefined
    if (file === undefined) {
      await next()
      return
    }
    const send = (
      about: object,
      status: number,
      headers: Readonly<Record<string, string>> = {},
    ) => {
      ctx.status = status
      ctx.set({ ...file.headers, ...headers, 'Cache-Control': 'no-store' })
      ctx.vary('Accept')
      ctx.body = withMeta(file, about)
    }
    try {
      await opening(ctx, async () => {})
      send(termsOf(ctx.state.link?.uploads), 200)
    } catch (error) {
      if (!isRefusal(error)) throw error
      const { status, code, headers } = toProblem(error)
      ctx.state.failure = error
      send({ refused: code }, status, headers)
    }
  }
}

function isRefusal(error: unknown): boolean {
  return isFileServiceError(error, 'link-refused') || isFileServiceError(error, 'too-many-attempts')
}

/** Only what stands in the link itself, or is found out by using it. */
function termsOf(uploads: LinkUploads | undefined): object {
  if (uploads === undefined) throw new TypeError('The route is not behind a link')
  const { customer, name, isPrefix, maxFiles, maxSize, replace, expiresAt } = uploads
  return { customer: customer.name, name, isPrefix, maxFiles, maxSize, replace, expires: expiresAt }
}

function withMeta({ contents }: PageFile, about: object): string {
  const content = JSON.stringify(about).replaceAll(/[&<>"]/gu, (sign) => `&#${sign.charCodeAt(0)};`)
  const html = new TextDecoder().decode(contents.identity)
  return html.replace('</head>', () => `<meta name="link" content="${content}"></head>`)
}
