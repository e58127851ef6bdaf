import type { RouterMiddleware } from '@koa/router'
import { isFileServiceError, type LinkUploads } from '@holdfast/core'
import type { Context } from 'koa'
import { toProblem } from '../http/problems.ts'
import type { HoldfastState } from '../server/exchange.ts'
import { hasLink } from './open-link.ts'

/**
 * The files of a page by their paths below its address; `''` is the page itself, and `upload` the one for those who have a link
 * to upload. `openPage` of `@holdfast/web` makes one.
 */
export type PageFiles = ReadonlyMap<string, PageFile>

export interface PageFile {
  readonly headers: Readonly<Record<string, string>>
  readonly etags: Readonly<Record<Encoding, string>>
  readonly contents: Readonly<Record<Encoding, Uint8Array>>
}

/** The smallest first. */
const encodings = ['br', 'gzip', 'identity'] as const
type Encoding = (typeof encodings)[number]

/** `open`, which is called when it is needed, and once. */
export function openingOnce(open: () => Promise<PageFiles>): () => Promise<PageFiles> {
  let opened: Promise<PageFiles> | undefined
  return () =>
    (opened ??= open().catch((error: unknown) => {
      opened = undefined
      throw error
    }))
}

/** GET and HEAD of the page, for clients that ask for HTML by name, and of what it loads. */
export function createPage(open: () => Promise<PageFiles>): RouterMiddleware<HoldfastState> {
  return async (ctx, next) => {
    const { asset } = ctx.params
    const isAsked = asset !== undefined || asksForHtml(ctx.get('Accept'))
    const file = isAsked ? (await open()).get(asset ? `assets/${asset}` : '') : undefined
    if (file === undefined) {
      await next()
      return
    }
    const encoding = encodings.find((each) => ctx.acceptsEncodings(each) !== false) ?? 'identity'
    ctx.status = 200
    ctx.set(file.headers)
    ctx.set('ETag', file.etags[encoding])
    ctx.vary(asset === undefined ? 'Accept, Accept-Encoding' : 'Accept-Encoding')
    if (ctx.fresh) {
      ctx.status = 304
      return
    }
    if (encoding !== 'identity') ctx.set('Content-Encoding', encoding)
    const { buffer, byteOffset, byteLength } = file.contents[encoding]
    // A view: a copy for each request would cost as much as the rest.
    ctx.body = Buffer.from(buffer, byteOffset, byteLength)
  }
}

/** Whether a browser asks for a page: programs take anything, and get the errors that they can read. */
function asksForHtml(accept: string): boolean {
  const ranges = accept.split(',').map((range) => range.trim().toLowerCase())
  return ranges.some((range) => /^text\/html\s*(;|$)/.test(range) && !/;\s*q=0(\.0*)?$/.test(range))
}

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
  const codes = ['link-refused', 'too-many-attempts', 'overloaded', 'not-found'] as const
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
