import type { IncomingMessage } from 'node:http'
import { headerOfPart, type Draft } from '@holdfast/resumable'
import type { RouterMiddleware } from '@koa/router'
import { problems } from '../http/problems.ts'
import { exchangeIn, fileNameInPath, type HoldfastState } from '../server/exchange.ts'
import { bodyOf, parseContentDigest } from '../server/request-body.ts'
import { createByDraft } from './resumable.ts'
import { answerUpload, prepareUpload, uploadRequestOf } from './upload.ts'

/**
 * PUT /upload/:filename: stores the body, which is the file itself without a form. By `draft` it may come in pieces, if the client
 * asks for that.
 */
export function createPut(draft: Draft | undefined): RouterMiddleware<HoldfastState> {
  return async (ctx) => {
    const exchange = exchangeIn(ctx)
    const name = fileNameInPath(ctx)
    // RFC 9110 §14.5: a part that is stored as the whole file would destroy the file.
    refusePart(ctx.req.headers['content-range'] === undefined ? undefined : 'content-range')
    const upload = uploadRequestOf(exchange)
    // By a link, the draft is not offered: only whole files may be sent.
    if (ctx.state.link === undefined && draft?.isCreation(ctx.req)) {
      return createByDraft(draft, ctx, upload, { name, uploads: '../uploads' })
    }
    refusePart(headerOfPart(ctx.req))
    return answerUpload(ctx, () => {
      const digest = parseContentDigest(ctx.get('content-digest') || undefined)
      const file = { name, ...(digest && { digest }), ...sizeOf(ctx.req), bytes: bodyOf(ctx.req) }
      return prepareUpload(upload, file).publish()
    })
  }
}

function refusePart(header: string | undefined): void {
  if (header === undefined) return
  throw problems.invalidHeader(header, 'an upload is always the whole file')
}

function sizeOf(request: IncomingMessage): { readonly size?: number } {
  const length = request.headers['content-length']
  return length === undefined ? {} : { size: Number(length) }
}
