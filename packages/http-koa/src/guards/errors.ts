import type { IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import type { Context, Middleware } from 'koa'
import { isFileServiceError } from '@holdfast/core'
import type { HttpProblem } from '@holdfast/resumable'
import { errorBody, toProblem, requestProblem, useOriginForm } from '../http/problems.ts'
import { exchangeIn, type HoldfastState } from '../server/exchange.ts'
import { discardRest } from '../server/request-body.ts'

/**
 * Answers every error that the next middleware throws, in the form that all errors have. Errors on our side are logged with the
 * request id; of these, the client learns only that id and a general message.
 */
export function createErrors(log: HttpLog = consoleLog): Middleware<HoldfastState> {
  return async (ctx, next) => {
    const headersBefore = ctx.res.getHeaderNames()
    try {
      // Our own servers have checked the request already.
      const wrong = exchangeIn(ctx).isExamined ? undefined : requestProblem(ctx.req)
      if (wrong) throw wrong
      useOriginForm(ctx.req)
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
 * Removes the headers that were set for the answer that the error replaces. It keeps the headers in `kept`, and `Connection`,
 * which a server that shuts down may have set meanwhile.
 */
function removeHeaders(ctx: Context, kept: readonly string[]): void {
  if (ctx.headerSent) return
  for (const name of ctx.res.getHeaderNames()) {
    if (!kept.includes(name) && name !== 'connection') ctx.remove(name)
  }
}

/** Answers with an error; the request's body may be unread, partly read or complete. */
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

export interface DrainOptions {
  /** How much of an unwanted body is read at most, in bytes. */
  readonly maxBytes: number
  /** How long an unwanted body is read at most, in milliseconds. */
  readonly maxMs: number
}

/** A client that sends more than this after an early answer may lose the answer. */
const defaultDrain: DrainOptions = { maxBytes: 64 * 1024 * 1024, maxMs: 10_000 }

/** A body up to this size is read to its end to keep the connection open. In bytes. */
const smallBody = 256 * 1024

/** Whether the body is known to be too large to read its rest only to keep the connection open. */
function hasLargeRest(request: IncomingMessage): boolean {
  return !request.complete && Number(request.headers['content-length'] ?? 0) > smallBody
}

/**
 * `answer` as a stream that ends only when the rest of the request's body has been read, or a limit of `options` is reached; at
 * a limit the connection is cut. A server that closes a socket with unread bytes sends a reset, which can overtake the answer,
 * so that the client loses it (RFC 9112 §9.6). The client sees the whole answer at once, by its Content-Length.
 */
export function answerWhileDraining(
  answer: string,
  request: IncomingMessage,
  options: DrainOptions = defaultDrain,
): Readable {
  return Readable.from(
    (async function* () {
      yield Buffer.from(answer)
      await readRest(request, options)
    })(),
    { objectMode: false },
  )
}

async function readRest(request: IncomingMessage, { maxBytes, maxMs }: DrainOptions) {
  if (request.complete || request.destroyed) return
  const { socket } = request
  const readBefore = socket.bytesRead
  const { promise, resolve } = Promise.withResolvers<undefined>()
  const done = () => resolve(undefined)
  // Counted on the socket, since multer may be what reads the rest.
  const watch = setInterval(() => {
    if (socket.bytesRead - readBefore > maxBytes) done()
  }, 20)
  const timer = setTimeout(done, maxMs)
  request.once('end', done).once('close', done).once('error', done)
  discardRest(request)
  await promise
  clearInterval(watch)
  clearTimeout(timer)
  if (!request.readableEnded) socket.destroy()
}

/** A log for the operator, such as a pino logger. `fields` never hold a credential; one that is `undefined` counts as absent. */
export interface HttpLog {
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
}

/** The default log: errors go to `console.error`, since no answer has their cause. Everything else is dropped. */
export const consoleLog: HttpLog = {
  info() {},
  warn() {},
  error: (fields, message) => console.error(message, fields),
}

/** Statuses of errors on our side: the operator needs their cause, which the client does not get. */
const faults: readonly number[] = [500, 503, 507]

/** Logs the cause of an answer with an error on our side, with the request id that the client got. */
export function logFault(
  log: HttpLog,
  { requestId }: { readonly requestId?: string | undefined },
  error: unknown,
  { status, message }: HttpProblem,
): void {
  // To refuse requests beyond the limits is no error, and a line with a stack for each would add to the load.
  if (isFileServiceError(error, 'overloaded')) return
  if (faults.includes(status)) log.error({ requestId, err: error }, message)
}
