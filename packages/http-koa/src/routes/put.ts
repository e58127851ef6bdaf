import type { IncomingMessage } from 'node:http'
import type { BlobInfo } from '@holdfast/core'
import type { RouterMiddleware } from '@koa/router'
import type { Context } from 'koa'
import { exchangeIn } from '../exchange/exchange.ts'
import type { HoldfastState } from '../exchange/holdfast-state.ts'
import { answerStored } from './answer-stored.ts'
import { bodyOf } from '../body/body-of.ts'
import { parseContentDigest } from '../http/content-digest.ts'
import { fileNameInPath } from './file-name-in-path.ts'
import { releaseChunks } from '../body/release-chunks.ts'
import { prepareUpload } from '../body/stage-upload.ts'
import { problems } from '../errors/problem.ts'
import { isCreateOnly } from '../http/upload-conditions.ts'
import { filesOf } from '../middleware/authenticate.ts'

/** PUT /upload/:filename: stores the body as it is, without a form around it. */
export const put: RouterMiddleware<HoldfastState> = async (ctx) => {
  answerStored(ctx, await (exchangeIn(ctx).storing ?? store(ctx)))
}

async function store(ctx: Context & { state: HoldfastState }): Promise<BlobInfo> {
  const name = fileNameInPath(ctx)
  const { headers } = ctx.req
  // RFC 9110 §14.5: a part that passes for the whole would destroy the file.
  if (headers['content-range'] !== undefined) {
    throw problems.invalidHeader('content-range', 'an upload is always the whole file')
  }
  const createOnly = isCreateOnly(headers)
  const digest = parseContentDigest(ctx.get('content-digest') || undefined)
  const upload = prepareUpload(filesOf(ctx.state), name, bodyOf(ctx.req), {
    createOnly,
    ...(digest && { digest }),
    ...sizeOf(ctx.req),
    ...releaseChunks(ctx.req),
  })
  return upload.publish()
}

function sizeOf(request: IncomingMessage): { readonly size?: number } {
  const length = request.headers['content-length']
  return length === undefined ? {} : { size: Number(length) }
}
