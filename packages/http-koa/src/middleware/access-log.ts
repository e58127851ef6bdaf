import type { Context, Middleware } from 'koa'
import type { HttpLog } from '../http/log.ts'
import { pathOf } from '../http/path-of.ts'
import type { HoldfastState } from '../holdfast-state.ts'

/** Writes one line for each request, once its answer has been sent or cut off. */
export function createAccessLog(log: HttpLog): Middleware<HoldfastState> {
  return (ctx, next) => {
    const begin = performance.now()
    const { socket } = ctx.req
    const { bytesRead, bytesWritten } = socket
    const { remoteAddress } = socket
    ctx.res.once('close', () => {
      log.info(
        {
          requestId: ctx.state.requestId,
          method: ctx.method,
          path: pathOf(ctx),
          status: ctx.res.statusCode,
          // A client that left before the end of the answer did not get it, whatever the status says.
          ...(ctx.res.writableFinished ? {} : { aborted: true }),
          durationMs: Math.round((performance.now() - begin) * 10) / 10,
          bytesIn: socket.bytesRead - bytesRead,
          bytesOut: socket.bytesWritten - bytesWritten,
          customer: ctx.state.files?.customer.name,
          address: remoteAddress,
          ...reasonOf(ctx),
        },
        'request',
      )
    })
    return next()
  }
}

function reasonOf(ctx: Context): { readonly reason?: string } {
  const { failure } = ctx.state as HoldfastState
  return failure instanceof Error ? { reason: failure.message } : {}
}
