import type { Socket } from 'node:net'
import type { Context, Middleware } from 'koa'
import { createAddressOf, type AddressOf } from '../http/address-of.ts'
import type { HttpLog } from '../http/log.ts'
import { onAnswerEnd } from '../http/on-answer-end.ts'
import { pathOf } from '../http/path-of.ts'
import type { HoldfastState } from '../holdfast-state.ts'

/**
 * What was counted on a connection when its latest answer ended: a request's head has arrived before anybody hears of
 * it.
 */
const counted = new WeakMap<Socket, Readonly<Record<'bytesIn' | 'bytesOut', number>>>()

/**
 * Writes one line for each request, once its answer has been sent or cut off. `addressOf` tells where a request comes
 * from. Default: the other end of the connection.
 */
export function createAccessLog(
  log: HttpLog,
  addressOf: AddressOf = createAddressOf(),
): Middleware<HoldfastState> {
  return (ctx, next) => {
    const begin = performance.now()
    const { socket } = ctx.req
    const address = addressOf(ctx.req)
    onAnswerEnd(ctx.req, ctx.res, () => {
      const before = counted.get(socket)
      const counts = { bytesIn: socket.bytesRead, bytesOut: socket.bytesWritten }
      counted.set(socket, counts)
      log.info(
        {
          requestId: ctx.state.requestId,
          method: ctx.method,
          path: pathOf(ctx),
          // Where no answer has begun there is only Koa's default, 404, which would be misleading.
          ...(ctx.res.headersSent && { status: ctx.res.statusCode }),
          // A client that left before the end of the answer did not get it, whatever the status says.
          ...(ctx.res.writableFinished ? {} : { aborted: true }),
          durationMs: Math.round((performance.now() - begin) * 10) / 10,
          bytesIn: counts.bytesIn - (before?.bytesIn ?? 0),
          bytesOut: counts.bytesOut - (before?.bytesOut ?? 0),
          customer: ctx.state.files?.customer.name,
          address,
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
