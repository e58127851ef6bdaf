import { isFileServiceError, type LinkUploads } from '@holdfast/core'
import type { RouterMiddleware } from '@koa/router'
import type { Context } from 'koa'
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
    ctx.vary('Accept')
    try {
      await opening(ctx, async () => {})
      send(ctx, file, await termsOf(ctx.state.link?.uploads))
    } catch (error) {
      refuse(ctx, file, error)
    }
  }
}

/**
 * GET of a link to download that a person opens in a browser (Fetch Metadata's `Sec-Fetch-Dest: document`): where the link is
 * refused, or its file is gone, the same page says so. All other requests get the error of the API.
 */
export function createRefusalPage(open: () => Promise<PageFiles>): RouterMiddleware<HoldfastState> {
  return async (ctx, next) => {
    const isAsked = ctx.method === 'GET' && ctx.get('Sec-Fetch-Dest') === 'document' && hasLink(ctx)
    if (!isAsked) {
      await next()
      return
    }
    try {
      await next()
    } catch (error) {
      const file = (await open()).get('upload')
      if (file === undefined) throw error
      ctx.vary('Sec-Fetch-Dest')
      refuse(ctx, file, error)
    }
  }
}

type PageContext = Context & { readonly state: HoldfastState }

/** @throws `error`, if it is none that the page has words for */
function refuse(ctx: PageContext, file: PageFile, error: unknown): void {
  if (!isRefusal(error)) throw error
  const { status, code, headers } = toProblem(error)
  ctx.state.failure = error
  send(ctx, file, { refused: code }, status, headers)
}

function send(
  ctx: PageContext,
  file: PageFile,
  about: object,
  status = 200,
  headers: Readonly<Record<string, string>> = {},
): void {
  ctx.status = status
  ctx.set({ ...file.headers, ...headers, 'Cache-Control': 'no-store' })
  ctx.body = withMeta(file, about)
}

function isRefusal(error: unknown): boolean {
  const codes = ['link-refused', 'too-many-attempts', 'not-found'] as const
  return codes.some((code) => isFileServiceError(error, code))
}

/** Only what stands in the link itself, or is found out by using it. */
async function termsOf(uploads: LinkUploads | undefined): Promise<object> {
  if (uploads === undefined) throw new TypeError('The route is not behind a link')
  const { customer, name, isPrefix, maxFiles, maxSize, replace, expiresAt } = uploads
  const isUsedUp = await uploads.isUsedUp()
  const bounds = { isPrefix, maxFiles, maxSize, replace, isUsedUp }
  return { customer: customer.name, name, ...bounds, expires: expiresAt }
}

function withMeta({ contents }: PageFile, about: object): string {
  const content = JSON.stringify(about).replaceAll(/[&<>"]/gu, (sign) => `&#${sign.charCodeAt(0)};`)
  const html = new TextDecoder().decode(contents.identity)
  return html.replace('</head>', () => `<meta name="link" content="${content}"></head>`)
}
