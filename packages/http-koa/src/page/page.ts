import type { RouterMiddleware } from '@koa/router'
import type { HoldfastState } from '../exchange/holdfast-state.ts'

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
export function asksForHtml(accept: string): boolean {
  const ranges = accept.split(',').map((range) => range.trim().toLowerCase())
  return ranges.some((range) => /^text\/html\s*(;|$)/.test(range) && !/;\s*q=0(\.0*)?$/.test(range))
}
