import type { RouterMiddleware } from '@koa/router'
import { isFileServiceError, type LinkUploads } from '@holdfast/core'
import type { Context } from 'koa'
import { mediaTypeOf } from '../downloads/serve.ts'
import { filesOf } from '../guards/enter.ts'
import { etagOf } from '../http/conditional.ts'
import { toProblem } from '../http/problems.ts'
import { fileNameInPath, type HoldfastState } from '../server/exchange.ts'
import { hasLink } from './open-link.ts'

/**
 * The files of a page by their paths relative to its URL; `''` is the page itself, and `upload` is the page for links to upload.
 * `openPage` of `@holdfast/web` makes such a map.
 */
export type PageFiles = ReadonlyMap<string, PageFile>

export interface PageFile {
  readonly headers: Readonly<Record<string, string>>
  readonly etags: Readonly<Record<Encoding, string>>
  readonly contents: Readonly<Record<Encoding, Uint8Array>>
}

/** In order of preference: the one with the smallest result first. */
const encodings = ['br', 'gzip', 'identity'] as const
type Encoding = (typeof encodings)[number]

/** `open`, which is called when the page is first needed, and again only if that failed. */
export function openingOnce(open: () => Promise<PageFiles>): () => Promise<PageFiles> {
  let opened: Promise<PageFiles> | undefined
  return () =>
    (opened ??= open().catch((error: unknown) => {
      opened = undefined
      throw error
    }))
}

/** GET and HEAD of the page, for clients that ask for `text/html`, and of the assets that it loads. */
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
    // This is a view: a copy for each request would cost as much as the rest.
    ctx.body = Buffer.from(buffer, byteOffset, byteLength)
  }
}

/** Whether a browser asks for a page. Programs accept any type, and get the errors of the API, which they can read. */
function asksForHtml(accept: string): boolean {
  const ranges = accept.split(',').map((range) => range.trim().toLowerCase())
  return ranges.some((range) => /^text\/html\s*(;|$)/.test(range) && !/;\s*q=0(\.0*)?$/.test(range))
}

/**
 * GET and HEAD of a link to upload, for clients that ask for `text/html`: the page by which everyone who has the link can upload.
 * Its `<meta name="link">` says what the link allows, or that it is refused. `opening` checks the link.
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
 * GET of a link to download with `page` in the query, for clients that ask for `text/html`: the page about the file, with its
 * preview. Its `<meta name="link">` has the file's details, or says that the link is refused. All other requests get the file.
 * `opening` checks the link.
 */
export function createFilePage(
  open: () => Promise<PageFiles>,
  opening: RouterMiddleware<HoldfastState>,
): RouterMiddleware<HoldfastState> {
  return async (ctx, next) => {
    const isAsked = ctx.method === 'GET' && hasPage(ctx) && hasLink(ctx)
    if (isAsked) ctx.vary('Accept')
    const file =
      isAsked && asksForHtml(ctx.get('Accept')) ? (await open()).get('upload') : undefined
    if (file === undefined) {
      await next()
      return
    }
    try {
      let about = {}
      // No content is sent yet, so that this is no download in the audit trail.
      await opening(ctx, async () => void (about = await fileOf(ctx)))
      send(ctx, file, about)
    } catch (error) {
      refuse(ctx, file, error)
    }
  }
}

const hasPage = ({ querystring }: Context) => new URLSearchParams(querystring).has('page')

/** What the page says of a file: no more than `HEAD` by the same link. */
async function fileOf(ctx: PageContext): Promise<object> {
  const files = filesOf(ctx.state)
  const info = await files.stat(fileNameInPath(ctx))
  const { name, size, modifiedAt: modified } = info
  const file = { name, size, modified, type: mediaTypeOf(name), etag: etagOf(info) }
  return { customer: files.customer.name, file }
}

/**
 * GET of a link to download that a person opens in a browser (`Sec-Fetch-Dest: document` of Fetch Metadata): if the link is
 * refused, or its file was deleted, the page for uploads says so. All other requests get the error of the API.
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

/** Answers with the page, which explains `error`. @throws `error`, if the page cannot explain it */
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

/** The terms of a link. They have only what is in the link itself, or can be found out by using it. */
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
