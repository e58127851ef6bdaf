import type { FileService } from '@holdfast/core'
import Koa from 'koa'
import { createFastPath, type FastPath } from './fast-path.ts'
import { createEntrance } from './guards/enter.ts'
import { type HttpLog, createErrors } from './guards/errors.ts'
import {
  catchingErrors,
  createReporter,
  logAnswers,
  reportRequests,
  requestId,
} from './guards/request-log.ts'
import { problems } from './http/problems.ts'
import { createSetup, type RouterOptions } from './options.ts'
import { createRoutes } from './router.ts'
import { onExchangeEnd } from './server/connection.ts'
import {
  crashPoint,
  endOfTick,
  exchangeIn,
  knownExchange,
  type HoldfastState,
  type OnAnswered,
} from './server/exchange.ts'

/** Codes of errors that only mean that the client left before the end of the response. */
const clientLeft = new Set(['ECONNRESET', 'EPIPE', 'ERR_STREAM_PREMATURE_CLOSE', 'ECANCELED'])

/** The whole service as a Koa application: the routes, one log line for each request, and 404 for every other path. */
export function createApp(service: FileService, options: RouterOptions = {}): Koa<HoldfastState> {
  const setup = createSetup(service, options)
  const { log, prefix } = setup
  const report = createReporter(setup.addressOf, logging(log, options.onAnswered))
  const entrance = createEntrance(setup, report)
  const app = new Koa<HoldfastState>()
  // An error after the headers can only be logged. Koa cuts the connection, so that the client knows that content is missing.
  app.on(
    'error',
    (error: Error & { code?: string }, ctx?: Koa.ParameterizedContext<HoldfastState>) => {
      if (clientLeft.has(error.code ?? '')) return
      const exchange = ctx && exchangeIn(ctx)
      // Koa reports one failure twice: for the content and for the response.
      if (exchange?.isFailureLogged) return
      if (exchange) exchange.isFailureLogged = true
      log.error({ requestId: exchange?.state.requestId, err: error }, 'The response was cut off')
    },
  )
  app.use(requestId)
  app.use(reportRequests(report))
  if (setup.cors) app.use(setup.cors)
  app.use(async (_ctx, next) => {
    await next()
    await endOfTick()
    crashPoint('answer-ready')
  })
  app.use(createErrors(log))
  app.use(createRoutes(setup, entrance).routes())
  app.use((ctx) => {
    throw isBelowFile(ctx.path, prefix) ? problems.slashInName() : problems.notFound()
  })
  return withFastPath(app, createFastPath(setup, entrance))
}

/** `app`, where `fastPath` answers what it can of the requests that came through one of our servers, which examines them. */
function withFastPath(app: Koa<HoldfastState>, fastPath: FastPath): Koa<HoldfastState> {
  const callback = app.callback.bind(app)
  app.callback = () => {
    const answer = callback()
    return (request, response) => {
      const exchange = knownExchange(request)
      const attempt = exchange?.isExamined ? fastPath(exchange) : undefined
      if (!exchange || !attempt) return answer(request, response)
      return attempt.then((isAnswered) => {
        // The entry lasts until the request is answered, by either path, and the exchange is over.
        const { entry } = exchange
        const leave = () => entry && onExchangeEnd(exchange, entry.release)
        return isAnswered ? leave() : answer(request, response).finally(leave)
      })
    }
  }
  return app
}

const belowFile = /^\/(?:upload|serve|delete|link)\/.*\//

/** Whether a path would be that of a file if the name had no slash. */
function isBelowFile(path: string, prefix: string): boolean {
  return path.startsWith(prefix) && belowFile.test(path.slice(prefix.length))
}

/** Writes the log line of a request, and calls `onAnswered`. */
function logging(log: HttpLog, onAnswered: OnAnswered | undefined): OnAnswered {
  const logAnswer = logAnswers(log)
  if (onAnswered === undefined) return logAnswer
  const notify = catchingErrors(onAnswered, log)
  return (answered) => {
    logAnswer(answered)
    notify(answered)
  }
}
