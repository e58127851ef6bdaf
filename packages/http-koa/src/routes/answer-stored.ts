import type { BlobInfo } from '@holdfast/core'
import type { Context } from 'koa'
import type { HoldfastState } from '../exchange/holdfast-state.ts'
import { etagOf } from '../http/conditional.ts'

/** Says that a file is safe. */
export function answerStored(ctx: Context & { state: HoldfastState }, info: BlobInfo): void {
  ctx.state.stored = info
  ctx.type = 'text/plain; charset=utf-8'
  ctx.set('ETag', etagOf(info))
  ctx.body = 'OK'
}
