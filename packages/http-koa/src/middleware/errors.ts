import type { Context, Middleware } from 'koa'
import { answerWhileDraining, hasLargeRest } from '../body/drain-request-body.ts'
import { exchangeIn } from '../exchange/exchange.ts'
import { logFault, consoleLog, type HttpLog } from '../errors/log.ts'
import { errorBody } from '../errors/problem.ts'
import { requestProblem } from '../http/request-problem.ts'
import { toProblem } from '../errors/status.ts'
import type { HoldfastState } from '../exchange/holdfast-state.ts'

/**
 * Turns whatever is thrown further in into the one form that errors have. Faults are logged with the id that the client
 * got, and the client learns nothing else of them.
 */
export function createErrors(log: HttpLog = consoleLog): Middleware<HoldfastState> {
  return async (ctx, next) => {
    const headersBefore = ctx.res.getHeaderNames()
    try {
      // A server of ours has looked already.
      const wrong = exchangeIn(ctx).isExamined ? undefined : requestProblem(ctx.req)
      if (wrong) throw wrong
      await next()
    } catch (error) {
      const problem = toProblem(error)
      ctx.state.failure = error
      logFault(log, ctx.state, error, problem)
      removeHeaders(ctx, headersBefore)
      refuse(ctx, problem.status, problem.message, {
        ...ctx.state.errorHeaders,
        ...problem.headers,
      })
    }
  }
}

/**
 * Takes back what was said of an answer that does not come: all headers but those that are `kept`, and what a server that
 * is about to end has said of the connection meanwhile.
 */
function removeHeaders(ctx: Context, kept: readonly string[]): void {
  if (ctx.headerSent) return
  for (const name of ctx.res.getHeaderNames()) {
    if (!kept.includes(name) && name !== 'connection') ctx.remove(name)
  }
}

/** Answers with an error, whatever of the request's body has been read so far. */
function refuse(
  ctx: Context,
  status: number,
  message: string,
  headers: Readonly<Record<string, string>>,
): void {
  if (ctx.headerSent) return
  const body = errorBody(status, message)
  const text = JSON.stringify(body)
  ctx.status = status
  // Node does not know every status of every protocol.
  ctx.message ||= body.error
  ctx.set(headers)
  ctx.set('Cache-Control', 'no-store')
  if (hasLargeRest(ctx.req)) ctx.set('Connection', 'close')
  ctx.body = ctx.req.complete ? text : answerWhileDraining(text, ctx.req)
  ctx.type = 'application/json; charset=utf-8'
  ctx.length = Buffer.byteLength(text)
}
