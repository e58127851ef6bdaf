import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Middleware } from 'koa'
import { createAddressOf, type AddressOf } from '../http/address-of.ts'
import type { HttpLog } from '../http/log.ts'
import { onAnswerEnd } from '../http/on-answer-end.ts'
import { pathOf } from '../http/path-of.ts'
import type { HoldfastState } from '../holdfast-state.ts'

/** What is known of a request when its answer has ended. */
export interface Answered {
  readonly method: string | undefined
  readonly path: string | undefined
  readonly state: HoldfastState
}

/**
 * Has one line written about a request, once its answer has been sent or cut off. Asked twice, it writes one line all the
 * same, of what it was told last.
 */
export type LogAnswer = (
  request: LoggedRequest,
  response: ServerResponse,
  answered: () => Answered,
) => void

const answeredKey = Symbol('answered')

interface LoggedRequest extends IncomingMessage {
  [answeredKey]?: () => Answered
}

/**
 * What was counted on a connection when its latest answer ended: a request's head has arrived before anybody hears of
 * it.
 */
const counted = new WeakMap<Socket, Readonly<Record<'bytesIn' | 'bytesOut', number>>>()

/** A {@link LogAnswer} for requests that have just arrived. `addressOf` tells where they come from. */
export function createAnswerLog(log: HttpLog, addressOf: AddressOf): LogAnswer {
  return (request, response, answered) => {
    const isLogged = request[answeredKey] !== undefined
    request[answeredKey] = answered
    if (isLogged) return
    const begin = performance.now()
    const { socket } = request
    const address = addressOf(request)
    onAnswerEnd(request, response, () => {
      const before = counted.get(socket)
      const counts = { bytesIn: socket.bytesRead, bytesOut: socket.bytesWritten }
      counted.set(socket, counts)
      const { method, path, state } = (request[answeredKey] ?? answered)()
      log.info(
        {
          requestId: state.requestId,
          method,
          path,
          // Where no answer has begun there is only Koa's default, 404, which would be misleading.
          ...(response.headersSent && { status: response.statusCode }),
          // A client that left before the end of the answer did not get it, whatever the status says.
          ...(response.writableFinished ? {} : { aborted: true }),
          durationMs: Math.round((performance.now() - begin) * 10) / 10,
          bytesIn: counts.bytesIn - (before?.bytesIn ?? 0),
          bytesOut: counts.bytesOut - (before?.bytesOut ?? 0),
          customer: state.files?.customer.name,
          address,
          ...reasonOf(state),
        },
        'request',
      )
    })
  }
}

/**
 * Writes one line for each request, once its answer has been sent or cut off. `addressOf` tells where a request comes
 * from. Default: the other end of the connection.
 */
export function createAccessLog(
  log: HttpLog,
  addressOf: AddressOf = createAddressOf(),
): Middleware<HoldfastState> {
  const logAnswer = createAnswerLog(log, addressOf)
  return (ctx, next) => {
    logAnswer(ctx.req, ctx.res, () => ({
      method: ctx.method,
      path: pathOf(ctx),
      state: ctx.state,
    }))
    return next()
  }
}

function reasonOf({ failure }: HoldfastState): { readonly reason?: string } {
  return failure instanceof Error ? { reason: failure.message } : {}
}
