import type { BlobInfo } from '@holdfast/core'
import type { RouterMiddleware } from '@koa/router'
import type { Context } from 'koa'
import { step } from '../answer/step.ts'
import { releaseChunks } from '../body/release-chunks.ts'
import { exchangeIn } from '../exchange/exchange.ts'
import type { HoldfastState } from '../exchange/holdfast-state.ts'
import { isCreateOnly } from '../http/upload-conditions.ts'
import { filesOf } from '../middleware/authenticate.ts'
import { receiveForm } from '../multipart/receive-form.ts'
import { prepareFile } from '../multipart/prepare-file.ts'
import { answerStored } from './answer-stored.ts'

/** POST /upload: stores the file of a form. */
export const upload: RouterMiddleware<HoldfastState> = async (ctx) => {
  answerStored(ctx, await (exchangeIn(ctx).storing ?? store(ctx)))
}

async function store(ctx: Context & { state: HoldfastState }): Promise<BlobInfo> {
  const options = { createOnly: isCreateOnly(ctx.req.headers), ...releaseChunks(ctx.req) }
  const onName = (name: string) => void (ctx.state.fileName = name)
  const staged = await receiveForm(ctx, async (file) =>
    prepareFile(filesOf(ctx.state), file, options, onName).stage(),
  )
  step('form-complete')
  return staged.publish()
}
