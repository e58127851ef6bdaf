import type { Draft } from '@holdfast/resumable'
import type { RouterMiddleware } from '@koa/router'
import contentDisposition from 'content-disposition'
import { step } from '../answer/step.ts'
import { releaseChunks } from '../body/release-chunks.ts'
import { exchangeIn } from '../exchange/exchange.ts'
import type { HoldfastState } from '../exchange/holdfast-state.ts'
import { problems } from '../errors/problem.ts'
import { isCreateOnly } from '../http/change-conditions.ts'
import { filesOf } from '../middleware/authenticate.ts'
import { receiveForm } from '../multipart/receive-form.ts'
import { prepareFile } from '../multipart/prepare-file.ts'
import { isForm } from '../multipart/syntax/form-type.ts'
import { partFileName } from '../multipart/syntax/part-file-name.ts'
import { answerStored } from './answer-stored.ts'
import { createByDraft } from './draft-uploads.ts'

/** POST /upload: stores the file of a form; by `draft` also a body that is the file itself, and may come in pieces. */
export function createUpload(draft: Draft | undefined): RouterMiddleware<HoldfastState> {
  return async (ctx) => {
    const { storing } = exchangeIn(ctx)
    if (storing) return answerStored(ctx, await storing)
    const createOnly = isCreateOnly(ctx.req.headers)
    if (draft?.isCreation(ctx.req) && !isForm(ctx.req)) {
      const name = fileNameInDisposition(ctx.get('content-disposition'))
      ctx.state.fileName = name
      return createByDraft(draft, ctx, { name, createOnly, uploads: 'uploads' })
    }
    const options = { createOnly, ...releaseChunks(ctx.req) }
    const onName = (name: string) => void (ctx.state.fileName = name)
    const staged = await receiveForm(ctx, async (file) =>
      prepareFile(filesOf(ctx.state), file, options, onName).stage(),
    )
    step('form-complete')
    answerStored(ctx, await staged.publish())
  }
}

/**
 * The name that a client gives its body (RFC 6266): the last segment, as of the file of a form.
 *
 * @throws HttpProblem 400 when there is none
 */
function fileNameInDisposition(header: string): string {
  const name = fileNameIn(header)
  if (name === undefined) throw problems.noFile()
  return partFileName(name)
}

function fileNameIn(header: string): string | undefined {
  try {
    return contentDisposition.parse(header).parameters.filename
  } catch {
    // It throws for what cannot be read, the empty string too.
    return undefined
  }
}
