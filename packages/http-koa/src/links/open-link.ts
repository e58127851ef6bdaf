import {
  FileServiceError,
  type FileLinks,
  type FileService,
  type PresentedLink,
} from '@holdfast/core'
import type { Context, Middleware, Next } from 'koa'
import { networkOf, type AddressOf } from '../guards/address-of.ts'
import type { AuditRecorder, RecordEvent } from '../guards/audit.ts'
import type { Admit } from '../guards/enter.ts'
import { decodePathSegment } from '../http/text.ts'
import { exchangeIn, type HoldfastState } from '../server/exchange.ts'

export interface LinkOpeningOptions {
  readonly service: FileService
  readonly links: FileLinks
  readonly addressOf: AddressOf
  readonly recorder: AuditRecorder
  readonly admit: Admit
  /** The middleware for requests that present no link. */
  readonly customersOnly: Middleware<HoldfastState>
}

/** The link that a request presents, and the function that records its use. */
interface Presented {
  readonly link: PresentedLink
  readonly record: RecordEvent
}

/**
 * Lets a request with `?link=` read the one file that the link opens; `customersOnly` handles all other requests. With a link,
 * credentials are ignored: where an application logs in by cookies, a browser may send those of another customer.
 */
export function createLinkOpening(opening: LinkOpeningOptions): Middleware<HoldfastState> {
  const { service, links, addressOf, admit } = opening
  const uses = createLinkUses()
  return byLink(opening, async (ctx, next, { link, record }) => {
    const file = link.name
    // Read before the connection ends: the address is unknown afterwards.
    const address = addressOf(ctx.req)
    await admit(ctx, next, async ({ state }) => {
      try {
        // A link is for the present file, whatever that is, and for nothing that its customer has replaced or deleted.
        if (new URLSearchParams(ctx.querystring).has('version')) throw noVersionByLink()
        const { customer, inline } = await links.open(link)
        state.files = service.filesOf(customer)
        state.link = { inline }
      } catch (error) {
        await record('download', { file, isByLink: true }, { error })
        throw error
      }
    })
    if (!hasContent(ctx)) return
    const use = { token: link.token, address, etag: ctx.response.get('ETag') }
    // A player loads a film in many parts; only the first one that it gets is recorded.
    if (isLaterPart(ctx) && uses.isKnown(use)) return
    uses.note(use)
    try {
      await record('download', { file })
    } catch (error) {
      uses.forget(use)
      throw error
    }
  })
}

/**
 * Lets a request with `?link=` make the uploads that the link allows, and nothing else; `customersOnly` handles all other
 * requests. `nameOf` returns the file name for which the link is presented. Default: the last segment of the path.
 */
export function createUploadLinkOpening(
  opening: LinkOpeningOptions,
  nameOf?: (ctx: Context) => string,
): Middleware<HoldfastState> {
  const { links, admit } = opening
  const open: OpenLink = (ctx, next, { link, record }) =>
    admit(ctx, next, async ({ state }) => {
      try {
        state.link = { uploads: await links.openUpload(link) }
      } catch (error) {
        await record('upload', { file: link.name, isByLink: true }, { error })
        throw error
      }
    })
  return byLink(opening, open, nameOf)
}

/** The `name` in the query, for paths without a file name. */
export function nameInQuery({ querystring }: Context): string {
  const [name = '', ...more] = new URLSearchParams(querystring).getAll('name')
  return more.length === 0 ? name : ''
}

/** The query that presents the same link for the same name at another URL. */
export function linkQuery(ctx: Context): string {
  const query = new URLSearchParams({ link: tokensOf(ctx)[0] ?? '', name: nameInQuery(ctx) })
  return `?${query.toString()}`
}

/** Refuses links on a path without uploads by link, before the request counts as a failed login. */
export function createUploadLinkRefusal(recorder: AuditRecorder): Middleware<HoldfastState> {
  return async (ctx, next) => {
    if (!hasLink(ctx)) {
      await next()
      return
    }
    const error = new FileServiceError('link-refused', 'Links are not accepted on this path')
    await recorder(exchangeIn(ctx))('upload', { isByLink: true }, { error })
    throw error
  }
}

function noVersionByLink(): FileServiceError {
  return new FileServiceError('link-refused', 'Links open no earlier version')
}

function byLink(
  { addressOf, recorder, customersOnly }: LinkOpeningOptions,
  open: OpenLink,
  nameOf: (ctx: Context) => string = nameInPath,
): Middleware<HoldfastState> {
  return (ctx, next) => {
    const tokens = tokensOf(ctx)
    if (tokens.length === 0) {
      const handling: unknown = customersOnly(ctx, next)
      return handling
    }
    // With two links it is not clear which one is meant, so neither is used.
    const token = tokens.length === 1 ? (tokens[0] ?? '') : ''
    const name = nameOf(ctx)
    const address = networkOf(addressOf(ctx.req))
    return open(ctx, next, { link: { token, name, address }, record: recorder(exchangeIn(ctx)) })
  }
}

function nameInPath({ path }: Context): string {
  return decodePathSegment(path.slice(path.lastIndexOf('/') + 1)) ?? ''
}

/** Whether a request presents a link, valid or not. */
export function hasLink(ctx: Context): boolean {
  return tokensOf(ctx).length > 0
}

function tokensOf({ querystring }: Context): readonly string[] {
  return new URLSearchParams(querystring).getAll('link')
}

type LinkContext = Context & { readonly state: HoldfastState }

type OpenLink = (ctx: LinkContext, next: Next, presented: Presented) => Promise<void>

function hasContent({ method, status }: Context): boolean {
  return method === 'GET' && (status === 200 || status === 206)
}

/** Whether the answer is a part of the file without its first byte. */
function isLaterPart({ status, response }: Context): boolean {
  return status === 206 && !response.get('Content-Range').startsWith('bytes 0-')
}

/** The use of a link: to which address it gave which content. */
interface LinkUse {
  readonly token: string
  readonly address: string
  readonly etag: string
}

/** Remembers recent uses of links. */
interface LinkUses {
  isKnown(use: LinkUse): boolean
  note(use: LinkUse): void
  forget(use: LinkUse): void
}

interface LinkUsesOptions {
  /** How long a use is remembered, in milliseconds. Default: an hour. */
  readonly windowMs?: number
  /** How many uses are remembered; beyond that, the oldest one is forgotten. Default: 10,000, some 3 MiB. */
  readonly most?: number
  /** The current time in milliseconds. Default: the monotonic time of the process. */
  readonly now?: () => number
}

export function createLinkUses({
  windowMs = 3_600_000,
  most = 10_000,
  now = () => performance.now(),
}: LinkUsesOptions = {}): LinkUses {
  /** When each use will be forgotten; in the order of these times. */
  const ends = new Map<string, number>()
  return {
    isKnown: (use) => (ends.get(keyOf(use)) ?? 0) > now(),
    forget: (use) => void ends.delete(keyOf(use)),
    note(use) {
      const key = keyOf(use)
      ends.delete(key)
      ends.set(key, now() + windowMs)
      for (const [oldest, end] of ends) {
        if (ends.size <= most && end > now()) return
        ends.delete(oldest)
      }
    },
  }
}

function keyOf({ token, address, etag }: LinkUse): string {
  return [token, address, etag].join('\n')
}
