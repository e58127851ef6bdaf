import type { IncomingMessage } from 'node:http'
import { headerOfPart, type Draft } from '@holdfast/resumable'
import type { RouterMiddleware } from '@koa/router'
import { exchangeIn } from '../exchange/exchange.ts'
import type { HoldfastState } from '../exchange/holdfast-state.ts'
import { answerStored } from './answer-stored.ts'
import { createByDraft } from './draft-uploads.ts'
import { bodyOf } from '../body/body-of.ts'
import { parseContentDigest } from '../http/content-digest.ts'
import { fileNameInPath } from './file-name-in-path.ts'
import { releaseChunks } from '../body/release-chunks.ts'
import { prepareUpload } from '../body/stage-upload.ts'
import { problems } from '../errors/problem.ts'
import { isCreateOnly } from '../http/change-conditions.ts'
import { filesOf } from '../middleware/authenticate.ts'

/**
 * PUT /upload/:filename: stores the body as it is, without a form around it. By `draft` it may come in pieces, if the client asks
 * for that.
 */
export function createPut(draft: Draft | undefined): RouterMiddleware<HoldfastState> {
  return async (ctx) => {
    const { storing } = exchangeIn(ctx)
    if (storing) return answerStored(ctx, await storing)
    const name = fileNameInPath(ctx)
    const { headers } = ctx.req
    // RFC 9110 §14.5: a part that passes for the whole would destroy the file.
    if (headers['content-range'] !== undefined) {
      throw problems.invalidHeader('content-range', 'an upload is always the whole file')
    }
    const createOnly = isCreateOnly(headers)
    // A link is for whole files.
    if (ctx.state.link === undefined && draft?.isCreation(ctx.req)) {
      return createByDraft(draft, ctx, { name, createOnly, uploads: '../uploads' })
    }
    const partHeader = headerOfPart(ctx.req)
    if (partHeader !== undefined) {
      throw problems.invalidHeader(partHeader, 'an upload is always the whole file')
    }
    const digest = parseContentDigest(ctx.get('content-digest') || undefined)
    const upload = prepareUpload(
      ctx.state.link?.uploads ?? filesOf(ctx.state),
      name,
      bodyOf(ctx.req),
      {
        createOnly,
        ...(digest && { digest }),
        ...sizeOf(ctx.req),
        ...releaseChunks(ctx.req),
      },
    )
    answerStored(ctx, await upload.publish())
  }
}

function sizeOf(request: IncomingMessage): { readonly size?: number } {
  const length = request.headers['content-length']
  return length === undefined ? {} : { size: Number(length) }
}
