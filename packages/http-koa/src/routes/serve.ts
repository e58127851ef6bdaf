import type { RouterMiddleware } from '@koa/router'
import type { BlobInfo, OpenBlob, RangeRequest } from '@holdfast/core'
import type { Context } from 'koa'
import { exchangeIn } from '../exchange/exchange.ts'
import { takeOpened } from '../exchange/opened-file.ts'
import type { HoldfastState } from '../exchange/holdfast-state.ts'
import { evaluatePreconditions, ifRangeHolds, isConditional } from '../http/conditional.ts'
import {
  contentHeaders,
  isPlainName,
  plainDisposition,
  setHeaders,
  validatorHeaders,
} from '../answer/file-headers.ts'
import { fileNameInPath } from './file-name-in-path.ts'
import { linkHeaders } from '../links/link-headers.ts'
import { mediaTypeOf } from '../answer/media-type.ts'
import { problems } from '../errors/problem.ts'
import { isAtEdge, parseRange } from '../http/range.ts'
import { createPumpedBody } from '../answer/pumped-body.ts'
import { streamBody } from '../answer/stream-body.ts'
import { filesOf } from '../middleware/authenticate.ts'

/** GET and HEAD /serve/:filename: hands out a file, whole or in part. */
export const serve: RouterMiddleware<HoldfastState> = async (ctx) => {
  const name = fileNameInPath(ctx)
  const files = filesOf(ctx.state)
  if (ctx.method === 'HEAD') {
    const info = await files.stat(name)
    // RFC 9110 §14.2: Range is for GET only.
    if (isWanted(ctx, info)) describe(ctx, info)
    return
  }
  const { headers } = ctx.req
  // Opening may cost a store the beginning of the content, for nothing where the client has it already.
  const known = isConditional(headers) ? await files.stat(name) : undefined
  if (known && !isWanted(ctx, known)) return
  const range = known && !ifRangeHolds(headers, known) ? undefined : parseRange(headers.range)
  const options = { ...(range && { range }), reuseChunks: true }
  const file = await (takeOpened(exchangeIn(ctx)) ?? files.serve(name, options))
  if (range === undefined || ifRangeHolds(headers, file.info)) {
    return send(ctx, file, range)
  }
  // Replaced since it was looked at.
  await file.close()
  return send(ctx, await files.serve(name, { reuseChunks: true }))
}

type FileContext = Context & { readonly state: HoldfastState }

/** Answers with what was opened for the part that is `asked` for, or closes it. */
async function send(ctx: FileContext, file: OpenBlob, asked?: RangeRequest): Promise<void> {
  const { info, content } = file
  const isEmpty = info.size === 0
  // Clients that cut everything into parts ask for the first or the last one and never for the whole, which is nothing here.
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

/** Sets what goes with the content. */
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

/** Says what the file is called, and of what type it is by that. */
function nameAttachment(ctx: Context, name: string): void {
  if (isPlainName(name)) {
    ctx.set('Content-Type', mediaTypeOf(name))
    ctx.set('Content-Disposition', plainDisposition(name))
    return
  }
  // Without a fallback in ASCII, names in Latin-1 would go as such bytes, which clients read each in their own way.
  ctx.attachment(name, { fallback: name.replace(/[^\x20-\x7e]/gu, '?') })
  // Koa has just taken away what it did not know.
  ctx.set('Content-Type', mediaTypeOf(name))
}
