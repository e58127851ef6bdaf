import type { RouterMiddleware } from '@koa/router'
import { step } from '../answer/step.ts'
import { releaseChunks } from '../body/release-chunks.ts'
import type { HoldfastState } from '../exchange/holdfast-state.ts'
import { isCreateOnly } from '../http/upload-conditions.ts'
import { filesOf } from '../middleware/authenticate.ts'
import { receiveForm } from '../multipart/receive-form.ts'
import { prepareFile } from '../multipart/prepare-file.ts'
import { answerStored } from './answer-stored.ts'

/** POST /upload: stores the file of a form. */
export const upload: RouterMiddleware<HoldfastState> = async (ctx) => {
  const options = { createOnly: isCreateOnly(ctx.req.headers), ...releaseChunks(ctx.req) }
  const onName = (name: string) => void (ctx.state.fileName = name)
  const staged = await receiveForm(ctx, async (file) =>
    prepareFile(filesOf(ctx.state), file, options, onName).stage(),
  )
  step('form-complete')
  answerStored(ctx, await staged.publish())
}
