import type { ServerResponse } from 'node:http'
import { extname } from 'node:path'
import type { RouterMiddleware } from '@koa/router'
import {
  FileServiceError,
  type BlobInfo,
  type CustomerFiles,
  type OpenBlob,
  type OpenOptions,
  type RangeRequest,
} from '@holdfast/core'
import type { Context } from 'koa'
import { contentType } from 'mime-types'
import { filesOf } from '../guards/enter.ts'
import { evaluatePreconditions, ifRangeHolds, isConditional, etagOf } from '../http/conditional.ts'
import { problems } from '../http/problems.ts'
import { isPlainName } from '../http/text.ts'
import {
  fileNameInPath,
  exchangeIn,
  type Exchange,
  type HoldfastState,
  soleParameter,
} from '../server/exchange.ts'
import { createPumpedBody, streamBody } from './stream-body.ts'

/** GET and HEAD /serve/:filename: serves a file, or with `version` an earlier version of it, or a part of it. */
export const serve: RouterMiddleware<HoldfastState> = async (ctx) => {
  const name = fileNameInPath(ctx)
  const { stat, open } = contentOf(filesOf(ctx.state), name, versionIn(ctx))
  if (ctx.method === 'HEAD') {
    const info = await stat()
    // RFC 9110 §14.2: Range is for GET only.
    if (isWanted(ctx, info)) describe(ctx, info)
    return
  }
  const { headers } = ctx.req
  // To open a file, a store may load the beginning of the content: in vain if the client has the file already.
  const known = isConditional(headers) ? await stat() : undefined
  if (known && !isWanted(ctx, known)) return
  const range = known && !ifRangeHolds(headers, known) ? undefined : parseRange(headers.range)
  const options = { ...(range && { range }), reuseChunks: true }
  const file = await (takeOpened(exchangeIn(ctx)) ?? open(options))
  if (range === undefined || ifRangeHolds(headers, file.info)) {
    return send(ctx, file, range)
  }
  // The file was replaced after `stat`.
  await file.close()
  return send(ctx, await open({ reuseChunks: true }))
}

/** The file that the fast path has opened for the request, or the error of opening it. The caller reads or closes it. */
export function takeOpened(exchange: Exchange): Promise<OpenBlob> | undefined {
  const { opening } = exchange
  exchange.opening = undefined
  return opening
}

/** The calls that read a file, or an earlier version of it. */
interface ServedContent {
  readonly stat: () => Promise<BlobInfo>
  readonly open: (options: OpenOptions) => Promise<OpenBlob>
}

function contentOf(files: CustomerFiles, name: string, version?: string): ServedContent {
  if (version === undefined) {
    return { stat: () => files.stat(name), open: (options) => files.serve(name, options) }
  }
  const { history } = files
  // To serve the present file instead would be worse than no answer.
  if (history === undefined) throw new FileServiceError('version-not-found', 'Version not found')
  const open = (options?: OpenOptions) => history.serve(name, version, options)
  return {
    async stat() {
      const opened = await open()
      await opened.close()
      return opened.info
    },
    open,
  }
}

function versionIn({ querystring }: Context): string | undefined {
  if (querystring === '') return undefined
  return soleParameter(new URLSearchParams(querystring), 'version')
}

type FileContext = Context & { readonly state: HoldfastState }

/** Answers with `file`, which was opened for the range `asked`; closes it if its content is not sent as a stream. */
async function send(ctx: FileContext, file: OpenBlob, asked?: RangeRequest): Promise<void> {
  const { info, content } = file
  const isEmpty = info.size === 0
  // Clients that load every file in parts ask for the first or last one. An empty file has none, so they get the whole file.
  const range = isEmpty && isAtEdge(asked) ? { offset: 0, length: 0 } : file.range
  let isSent = false
  try {
    if (!isWanted(ctx, info)) return
    if (range === undefined) throw problems.rangeNotSatisfiable(info.size)
    describe(ctx, info)
    if (asked && !isEmpty) {
      const last = range.offset + range.length - 1
      ctx.status = 206
      ctx.set('Content-Range', `bytes ${range.offset}-${last}/${info.size}`)
    }
    const { bytes } = file
    if (bytes) {
      ctx.body = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
      return
    }
    await streamBody(ctx, content, () => file.close(), createPumpedBody)
    ctx.length = range.length
    isSent = true
  } finally {
    if (!isSent) await file.close()
  }
}

/**
 * Evaluates the preconditions; `false` when the client has the file already.
 * @throws HttpProblem 412 when a precondition fails
 */
function isWanted(ctx: Context, info: BlobInfo): boolean {
  const verdict = evaluatePreconditions(ctx.req.headers, info)
  if (verdict === 'failed') throw problems.preconditionFailed()
  setHeaders(ctx.res, validatorHeaders(info))
  if (verdict === 'proceed') return true
  ctx.status = 304
  return false
}

/** Sets the status and the headers of the content. */
function describe(ctx: FileContext, info: BlobInfo): void {
  ctx.status = 200
  nameAttachment(ctx, info.name)
  setHeaders(ctx.res, contentHeaders)
  const { link } = ctx.state
  if (link) {
    const disposition = ctx.response.get('Content-Disposition')
    setHeaders(ctx.res, linkHeaders(info.name, link.inline === true, disposition))
  }
  ctx.length = info.size
}

/** Sets the headers with the file's name, and with its type by that name. */
function nameAttachment(ctx: Context, name: string): void {
  if (isPlainName(name)) {
    ctx.set('Content-Type', mediaTypeOf(name))
    ctx.set('Content-Disposition', plainDisposition(name))
    return
  }
  // Without a fallback in ASCII, names in Latin-1 would be sent as Latin-1 bytes, which clients decode in different ways.
  ctx.attachment(name, { fallback: name.replace(/[^\x20-\x7e]/gu, '?') })
  // `attachment` removes the type if Koa does not know the extension.
  ctx.set('Content-Type', mediaTypeOf(name))
}

const singleByteRange = /^bytes=[ \t]*(?:(\d+)-(\d*)|-(\d+))[ \t]*$/i

/**
 * The range of a Range header (RFC 9110 §14.2). `undefined` if the whole file is to be served: without a header, and for another
 * unit, several ranges, or an invalid range.
 */
export function parseRange(header: string | undefined): RangeRequest | undefined {
  const match = singleByteRange.exec(header ?? '')
  if (match === null) return undefined
  const [, first, last, suffixLength] = match
  if (suffixLength !== undefined) return { suffixLength: Number(suffixLength) }
  if (last === '' || last === undefined) return { first: Number(first) }
  // As numbers, 2^53 + 1 and 2^53 are equal.
  if (BigInt(first ?? 0) > BigInt(last)) return undefined
  return { first: Number(first), last: Number(last) }
}

/** Whether a range includes the first or the last byte of every file that is not empty. */
function isAtEdge(range: RangeRequest | undefined): boolean {
  if (range === undefined) return false
  return 'suffixLength' in range ? range.suffixLength > 0 : range.first === 0
}

/** Name, value, name, value and so on, as `writeHead` takes headers. */
type RawHeaders = readonly string[]

/** The headers by which a client can ask later whether the file has changed, and not download the same content twice. */
export function validatorHeaders(info: BlobInfo): RawHeaders {
  return [
    'ETag',
    etagOf(info),
    'Last-Modified',
    lastModifiedOf(info),
    'Cache-Control',
    'private, no-cache',
  ]
}

/**
 * The value of Last-Modified. A future time, which a clock that was ahead has left, must not be sent (RFC 9110 §8.8.2.1).
 * Preconditions compare with the stored time: otherwise two contents that were sent with the same date would look unchanged.
 */
export function lastModifiedOf({ modifiedAt }: BlobInfo): string {
  return new Date(Math.min(modifiedAt.getTime(), Date.now())).toUTCString()
}

/**
 * The headers that are sent with the content of files. A file is data of a customer, who may be hostile: no browser may run it as a
 * page of this origin.
 */
export const contentPolicy: RawHeaders = [
  'X-Content-Type-Options',
  'nosniff',
  'Content-Security-Policy',
  'sandbox',
  // If an application that embeds the routes logs in by cookies, pages of other origins could load files as scripts.
  'Cross-Origin-Resource-Policy',
  'same-origin',
]

/** The headers that are sent with the content of every file. */
export const contentHeaders: RawHeaders = ['Accept-Ranges', 'bytes', ...contentPolicy]

export function setHeaders(response: ServerResponse, headers: RawHeaders): void {
  for (let index = 0; index < headers.length; index += 2) {
    response.setHeader(headers[index] ?? '', headers[index + 1] ?? '')
  }
}

/** The Content-Disposition of a plain name (RFC 6266). */
export function plainDisposition(name: string): string {
  return `attachment; filename="${name}"`
}

/** A cache of media types by extension: `contentType` takes longer. */
const known = new Map<string, string>()

/** Limits the cache, since names can have any extension; there are fewer in use than this. */
const maxKnown = 1_000

/** The media type of a file by its extension, from the table that Koa uses; `application/octet-stream` for others. */
export function mediaTypeOf(name: string): string {
  const extension = extname(name)
  const seen = known.get(extension)
  if (seen !== undefined) return seen
  const type = contentType(extension) || 'application/octet-stream'
  if (known.size < maxKnown) known.set(extension, type)
  return type
}

/** Types that browsers can show without running anything in the file. An SVG image is not among them: it may have scripts. */
const harmless =
  /^(?:image\/(?:avif|bmp|gif|jpeg|png|webp|x-icon|vnd\.microsoft\.icon)|audio\/.+|video\/.+|text\/plain|application\/pdf)$/u

/** Types that pages load as scripts, styles or data by their URL. */
const usedByPages =
  /^(?:(?:text|application)\/(?:[\w.-]*(?:java|ecma)script|css|wasm|json|[\w.+-]+\+json))$/u

/**
 * Replaces `sandbox`, under which WebKit shows no PDF. Because of `nosniff` the file cannot become a page; viewers run the
 * scripts of a PDF in their own origins, and this policy forbids scripts in the page around it.
 */
const pdfPolicy = "script-src 'none'; base-uri 'none'; form-action 'none'"

/**
 * The headers that differ when a link serves the file. Pages of all origins may show it, since everyone who has the link has the
 * file. Pages to which it leads do not learn the link. Pages do not run it, not even under a policy such as `script-src 'self'`:
 * with `nosniff`, `application/octet-stream` is not the type of a script. `disposition` is that of the file as an attachment.
 */
function linkHeaders(name: string, inline: boolean, disposition: string): RawHeaders {
  const [type = ''] = mediaTypeOf(name).split(';')
  const isShown = inline && harmless.test(type)
  return [
    'Cross-Origin-Resource-Policy',
    'cross-origin',
    'Referrer-Policy',
    'no-referrer',
    ...(usedByPages.test(type) ? ['Content-Type', 'application/octet-stream'] : []),
    ...(isShown ? ['Content-Disposition', disposition.replace(/^attachment/u, 'inline')] : []),
    ...(isShown && type === 'application/pdf' ? ['Content-Security-Policy', pdfPolicy] : []),
  ]
}
