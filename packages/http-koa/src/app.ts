import type { IncomingMessage } from 'node:http'
import type { CustomerFiles, FileService } from '@holdfast/core'
import Koa from 'koa'
import { createFastPath, noteFastPath } from './fast-path.ts'
import type { HoldfastState } from './holdfast-state.ts'
import { createAddressOf } from './http/address-of.ts'
import type { OnAnswered } from './http/answered.ts'
import { endOfTurn } from './http/end-of-turn.ts'
import { noLog, type HttpLog } from './http/log.ts'
import { problems } from './http/problem.ts'
import { step } from './http/step.ts'
import { logAnswers } from './middleware/access-log.ts'
import { headerAuthentication, type Authenticate } from './middleware/authenticate.ts'
import { createErrors } from './middleware/errors.ts'
import { requestId } from './middleware/request-id.ts'
import { createRequestTally } from './middleware/request-tally.ts'
import { carefully, createAnswerWatch, watchAnswers } from './middleware/watch-answers.ts'
import { createRoutes, type RouterOptions } from './router.ts'

/** Codes of errors that mean no more than that the client left before the end of the answer. */
const clientLeft = new Set(['ECONNRESET', 'EPIPE', 'ERR_STREAM_PREMATURE_CLOSE', 'ECANCELED'])

/**
 * The whole service as a Koa application: the routes, one log line a request, and an error in the usual form for
 * every other path.
 */
export function createApp(service: FileService, options: RouterOptions = {}): Koa<HoldfastState> {
  const { log = noLog, trustedProxies, prefix = '' } = options
  const { maxRequests = Infinity, maxRequestsPerCustomer = Infinity } = options
  const { requestTally = createRequestTally() } = options
  const addressOf = createAddressOf(trustedProxies)
  const authenticate = onceForEach(options.authenticate ?? headerAuthentication(service, addressOf))
  const limits = { maxRequests, maxRequestsPerCustomer, requestTally }
  const watchAnswer = createAnswerWatch(addressOf, tellingOf(log, options.onAnswered))
  const app = new Koa<HoldfastState>()
  const brokenOff = new WeakSet<Koa.Context>()
  // What fails once the answer has begun can only be logged; the connection is cut, so that the client does not take
  // a part for the whole.
  app.on('error', (error: Error & { code?: string }, ctx?: Koa.Context) => {
    if (clientLeft.has(error.code ?? '')) return
    // Koa hears of one failure twice, from the content and from the answer.
    if (ctx && brokenOff.has(ctx)) return
    if (ctx) brokenOff.add(ctx)
    log.error({ requestId: ctx?.state['requestId'] as unknown, err: error }, 'The answer broke off')
  })
  app.use(requestId)
  app.use(watchAnswers(watchAnswer))
  app.use(async (_ctx, next) => {
    await next()
    await endOfTurn()
    step('answer-ready')
  })
  app.use(createErrors(log))
  app.use(createRoutes(service, { ...options, ...limits, authenticate }).routes())
  app.use((ctx) => {
    throw isBelowFile(ctx.path, prefix) ? problems.slashInName() : problems.notFound()
  })
  noteFastPath(app, createFastPath({ prefix, authenticate, watchAnswer, ...limits }))
  return app
}

const belowFile = /^\/(?:upload|serve|delete)\/.*\//

/** Whether a path is that of a file but for a slash in its name. */
function isBelowFile(path: string, prefix: string): boolean {
  return path.startsWith(prefix) && belowFile.test(path.slice(prefix.length))
}

/** Writes the line of a request, and tells `onAnswered` of it. */
function tellingOf(log: HttpLog, onAnswered: OnAnswered | undefined): OnAnswered {
  const logAnswer = logAnswers(log)
  if (onAnswered === undefined) return logAnswer
  const tell = carefully(onAnswered, log)
  return (answered) => {
    logAnswer(answered)
    tell(answered)
  }
}

const authenticatedKey = Symbol('authenticated')

interface AuthenticatedRequest extends IncomingMessage {
  [authenticatedKey]?: { readonly by: Authenticate; readonly files: Promise<CustomerFiles> }
}

/** Asks `authenticate` once about each request: a failed login counts. */
function onceForEach(authenticate: Authenticate): Authenticate {
  return (request: AuthenticatedRequest) => {
    const known = request[authenticatedKey]
    if (known?.by === authenticate) return known.files
    const files = authenticate(request)
    request[authenticatedKey] = { by: authenticate, files }
    return files
  }
}
