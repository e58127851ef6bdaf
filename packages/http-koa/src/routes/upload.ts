import type { RouterMiddleware } from '@koa/router'
import type { HoldfastState } from '../exchange/holdfast-state.ts'
import { answerStored } from './answer-stored.ts'
import { contentOf } from '../body/body-at-hand.ts'
import { requireIntactBody } from '../body/intact-body.ts'
import { step } from '../answer/step.ts'
import { isCreateOnly } from '../http/upload-conditions.ts'
import { filesOf } from '../middleware/authenticate.ts'
import { checkFormType } from '../multipart/syntax/form-type.ts'
import { receiveForm } from '../multipart/receive-form.ts'
import { takeSimpleForm, type SimpleForm } from '../multipart/simple-form.ts'

/** POST /upload: stores the file of a form. */
export const upload: RouterMiddleware<HoldfastState> = async (ctx) => {
  const createOnly = isCreateOnly(ctx.req.headers)
  checkFormType(ctx.req)
  requireIntactBody(ctx.req)
  const simple = takeSimpleForm(ctx.req)
  if (simple) return answerStored(ctx, await storeSimple(ctx.state, simple, createOnly))
  const staged = await receiveForm(ctx, {
    files: filesOf(ctx.state),
    createOnly,
    onName: (name) => (ctx.state.fileName = name),
  })
  step('form-complete')
  const info = await staged.publish()
  answerStored(ctx, info)
}

async function storeSimple(state: HoldfastState, form: SimpleForm, createOnly: boolean) {
  const { filename, content } = form
  state.fileName = filename
  step('form-complete')
  return filesOf(state).upload(filename, contentOf(content), { createOnly, size: content.length })
}
