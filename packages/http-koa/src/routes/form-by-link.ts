import type { RouterMiddleware } from '@koa/router'
import { step } from '../answer/step.ts'
import { releaseChunks } from '../body/release-chunks.ts'
import type { HoldfastState } from '../exchange/holdfast-state.ts'
import { isCreateOnly } from '../http/change-conditions.ts'
import { prepareNamedFile } from '../multipart/prepare-file.ts'
import { receiveForm } from '../multipart/receive-form.ts'
import { partFileName } from '../multipart/syntax/part-file-name.ts'
import { answerStored } from './answer-stored.ts'
import { fileNameInPath } from './file-name-in-path.ts'

/**
 * POST /upload/:filename with a link: stores the file of a form, as a browser sends it, so that the link may be the action of
 * a form. The name is that in the path; with a link to a prefix, the form's own name of the file comes after it.
 */
export const formByLink: RouterMiddleware<HoldfastState> = async (ctx) => {
  const uploads = ctx.state.link?.uploads
  if (uploads === undefined) throw new TypeError('The route is not behind a link')
  const inPath = fileNameInPath(ctx)
  const options = { createOnly: isCreateOnly(ctx.req.headers), ...releaseChunks(ctx.req) }
  const staged = await receiveForm(ctx, async (file) => {
    const name = uploads.isPrefix ? `${inPath}${partFileName(file.filename)}` : inPath
    ctx.state.fileName = name
    return prepareNamedFile(uploads, name, file, options).stage()
  })
  step('form-complete')
  answerStored(ctx, await staged.publish())
}
