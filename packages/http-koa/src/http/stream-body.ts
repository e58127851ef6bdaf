import { Readable } from 'node:stream'
import type { Context } from 'koa'

/**
 * Answers with `content`, and calls `release` when that has been sent or the client has left. Content whose client left
 * before its first byte is never begun, and so would never release anything by itself.
 */
export function streamBody(
  ctx: Context,
  content: AsyncIterable<string | Uint8Array>,
  release: () => Promise<unknown> | undefined,
): void {
  const body = content instanceof Readable ? content : Readable.from(content, { objectMode: false })
  body.once('close', () => {
    release()?.catch((error: unknown) => ctx.app.emit('error', error, ctx))
  })
  ctx.body = body
}
