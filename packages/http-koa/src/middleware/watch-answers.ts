import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Middleware } from 'koa'
import type { HoldfastState } from '../holdfast-state.ts'
import type { AddressOf } from '../http/address-of.ts'
import type { AnsweredRequest, OnAnswered } from '../http/answered.ts'
import type { HttpLog } from '../http/log.ts'
import { onAnswerEnd } from '../http/on-answer-end.ts'
import { pathOf } from '../http/path-of.ts'
import { codeOf } from '../http/status.ts'

/** What is known of a request when its answer has ended. */
interface Known {
  readonly method: string | undefined
  readonly path: string | undefined
  readonly state: HoldfastState
}

/**
 * Has a request told of, once its answer has been sent or cut off. Asked twice, it tells once all the same, with what it
 * was given last.
 */
export type WatchAnswer = (
  request: WatchedRequest,
  response: ServerResponse,
  known: () => Known,
) => void

const knownKey = Symbol('known')

interface WatchedRequest extends IncomingMessage {
  [knownKey]?: () => Known
}

/**
 * What was counted on a connection when its latest answer ended: a request's head has arrived before anybody hears of
 * it.
 */
const counted = new WeakMap<Socket, Readonly<Record<'bytesIn' | 'bytesOut', number>>>()

/** A {@link WatchAnswer} for requests that have just arrived. `addressOf` tells where they come from. */
export function createAnswerWatch(addressOf: AddressOf, onAnswered: OnAnswered): WatchAnswer {
  return (request, response, known) => {
    const isWatched = request[knownKey] !== undefined
    request[knownKey] = known
    if (isWatched) return
    const begin = performance.now()
    const { socket } = request
    const address = addressOf(request)
    onAnswerEnd(request, response, () => {
      const before = counted.get(socket)
      const counts = { bytesIn: socket.bytesRead, bytesOut: socket.bytesWritten }
      counted.set(socket, counts)
      onAnswered({
        ...tellOf((request[knownKey] ?? known)()),
        // Where no answer has begun there is only Koa's default, 404, which would be misleading.
        status: response.headersSent ? response.statusCode : undefined,
        isAborted: !response.writableFinished,
        durationMs: performance.now() - begin,
        bytesIn: counts.bytesIn - (before?.bytesIn ?? 0),
        bytesOut: counts.bytesOut - (before?.bytesOut ?? 0),
        address,
      })
    })
  }
}

/** The middleware that has every request watched that comes to it. */
export function watchAnswers(watchAnswer: WatchAnswer): Middleware<HoldfastState> {
  return (ctx, next) => {
    watchAnswer(ctx.req, ctx.res, () => ({
      method: ctx.method,
      path: pathOf(ctx),
      state: ctx.state,
    }))
    return next()
  }
}

/** `onAnswered`; what it throws is a line in the log, and nobody's trouble else. */
export function carefully(onAnswered: OnAnswered, log: HttpLog): OnAnswered {
  return (answered) => {
    try {
      onAnswered(answered)
    } catch (error) {
      log.error({ requestId: answered.requestId, err: error }, 'onAnswered failed')
    }
  }
}

function tellOf({ method, path, state }: Known) {
  const { requestId, route = 'other', files, failure } = state
  return {
    requestId,
    route,
    method,
    path,
    customer: files?.customer.name,
    code: failure === undefined ? undefined : codeOf(failure),
    reason: failure instanceof Error ? failure.message : undefined,
  } satisfies Partial<AnsweredRequest>
}
