import type { BlobInfo } from '@holdfast/core'
import type { Context } from 'koa'
import { etagOf } from './conditional.ts'

/** Says that a file is safe. */
export function answerStored(ctx: Context, info: BlobInfo): void {
  ctx.type = 'text/plain; charset=utf-8'
  ctx.set('ETag', etagOf(info))
  ctx.body = 'OK'
}
