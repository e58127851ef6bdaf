import type { FileService } from '@holdfast/core'
import type { Router, RouterMiddleware } from '@koa/router'
import { noAudit, type Audit } from './audit/audit.ts'
import { createWitnessOf } from './audit/witness.ts'
import type { HoldfastState } from './holdfast-state.ts'
import { createAddressOf } from './http/address-of.ts'
import type { OnAnswered, Route } from './http/answered.ts'
import { noLog, type HttpLog } from './http/log.ts'
import { problems } from './http/problem.ts'
import { createFileAudit } from './middleware/audit-files.ts'
import {
  createAuthentication,
  filesOf,
  headerAuthentication,
  type Authenticate,
} from './middleware/authenticate.ts'
import { createErrors } from './middleware/errors.ts'
import { createRequestLimit } from './middleware/limit-requests.ts'
import { requestId } from './middleware/request-id.ts'
import { createRequestTally, type RequestTally } from './middleware/request-tally.ts'
import { carefully, createAnswerWatch, watchAnswers } from './middleware/watch-answers.ts'
import { koaRouter } from './required.ts'
import { createBatch } from './routes/batch.ts'
import { remove } from './routes/delete.ts'
import { list } from './routes/list.ts'
import { ping } from './routes/ping.ts'
import { put } from './routes/put.ts'
import { serve } from './routes/serve.ts'
import { createUpload } from './routes/upload.ts'

export interface RouterOptions {
  /** A path before all routes, such as `/files`. Default: none. */
  readonly prefix?: string
  /** Who sent a request. Default: by the headers `x-auth-name` and `x-auth-password`. */
  readonly authenticate?: Authenticate
  /**
   * Addresses and subnets of proxies whose `X-Forwarded-For` is believed, for the brake on bad logins and the log.
   * Without them all clients of a proxy are one to the brake. Default: none.
   */
  readonly trustedProxies?: readonly string[]
  /**
   * How many requests of customers may be under way at a time, downloads included; the next one is refused with 503, before
   * its body is read. Counts those who have logged in only, so that strangers use up no places; how many logins wait is
   * bounded by the service's brake on bad logins, or else by your `authenticate`. Default: no limit.
   */
  readonly maxRequests?: number
  /** The same for one customer. */
  readonly maxRequestsPerCustomer?: number
  /**
   * Where the requests under way are counted, of all under the empty key and of each customer under the name, so that
   * several processes can count together. Default: in this process.
   */
  readonly requestTally?: RequestTally
  /** Default: nothing is logged. */
  readonly log?: HttpLog
  /**
   * Told of each request once its answer has been sent or cut off, for figures and traces. A router
   * in an application of yours tells of the requests for its own paths only. Default: nobody is.
   */
  readonly onAnswered?: OnAnswered
  /** Told of every upload, deletion and refused login, before the client is; see `Audit`. Default: nobody is. */
  readonly audit?: Audit
}

/**
 * The routes of the service, to be mounted in any Koa application: `app.use(router.routes())`. Errors are answered
 * within, in the form of the specification; everything outside the routes is left to the application.
 */
export function createRouter(
  service: FileService,
  options: RouterOptions = {},
): Router<HoldfastState> {
  const { log = noLog, onAnswered, trustedProxies } = options
  const watch = (tell: OnAnswered) =>
    watchAnswers(createAnswerWatch(createAddressOf(trustedProxies), carefully(tell, log)))
  return createRoutes(service, options, [
    requestId,
    ...(onAnswered ? [watch(onAnswered)] : []),
    createErrors(log),
  ])
}

/** The routes behind `before`, which has to see to request ids and errors where nobody has before. */
export function createRoutes(
  service: FileService,
  options: RouterOptions,
  before: readonly Handler[] = [],
): Router<HoldfastState> {
  const { prefix = '', trustedProxies, log, audit = noAudit } = options
  const addressOf = createAddressOf(trustedProxies)
  const { maxRequests = Infinity, maxRequestsPerCustomer = Infinity } = options
  const { requestTally = createRequestTally() } = options
  const { authenticate = headerAuthentication(service, addressOf) } = options
  const witnessOf = createWitnessOf(audit, addressOf)
  const router = new koaRouter.Router<HoldfastState>({ prefix, sensitive: true, strict: true })
  const customersOnly = createAuthentication(authenticate, witnessOf)
  const limited = createRequestLimit(maxRequests, nobodys, requestTally)
  const limitedEach = createRequestLimit(maxRequestsPerCustomer, nameOf, requestTally)
  const guarded = (name: Route, ...handlers: readonly Handler[]) =>
    called(name, customersOnly, limited, limitedEach, ...handlers)
  const uploading = createFileAudit('upload', witnessOf)
  const deleting = createFileAudit('delete', witnessOf)

  if (before.length > 0) router.use(...before)
  const route = (path: string, handlers: Handlers) => {
    if (handlers.get) router.get(path, ...handlers.get)
    if (handlers.post) router.post(path, ...handlers.post)
    if (handlers.put) router.put(path, ...handlers.put)
    if (handlers.delete) router.delete(path, ...handlers.delete)
    router.all(path, createOtherMethods(handlers))
  }

  route('/ping', { get: called('ping', ping) })
  route('/upload', { post: guarded('upload', uploading, createUpload()) })
  route('/upload/', { put: guarded('put', uploading, refuseNameless('upload')) })
  route('/upload/batch', {
    post: guarded('batch', createBatch(log, witnessOf)),
    put: guarded('put', uploading, put),
  })
  route('/upload/:filename', { put: guarded('put', uploading, put) })
  route('/serve{/}', { get: guarded('serve', refuseNameless('serve')) })
  route('/serve/:filename', { get: guarded('serve', serve) })
  route('/delete{/}', { delete: guarded('delete', deleting, refuseNameless('delete')) })
  route('/delete/:filename', { delete: guarded('delete', deleting, remove) })
  route('/list', { get: guarded('list', list) })
  return router
}

const nobodys = () => ''
const nameOf = (state: HoldfastState) => filesOf(state).customer.name

type Handler = RouterMiddleware<HoldfastState>
type Handlers = Partial<Record<'get' | 'post' | 'put' | 'delete', readonly Handler[]>>

/** The handlers of a route, which notes that it has taken the request; in the first one, since every layer costs. */
function called(route: Route, first: Handler, ...others: readonly Handler[]): readonly Handler[] {
  const noting: Handler = (ctx, next) => {
    ctx.state.route = route
    const handling: unknown = first(ctx, next)
    return handling
  }
  return [noting, ...others]
}

/** Answers OPTIONS, and every method that a path does not know (RFC 9110 §15.5.6). */
function createOtherMethods(handlers: Handlers): Handler {
  const known = Object.keys(handlers).flatMap((method) =>
    method === 'get' ? ['GET', 'HEAD'] : [method.toUpperCase()],
  )
  const allow = [...known, 'OPTIONS'].join(', ')
  return (ctx) => {
    if (ctx.method !== 'OPTIONS') throw problems.methodNotAllowed(allow)
    ctx.status = 204
    ctx.set('Allow', allow)
  }
}

function refuseNameless(route: string): Handler {
  return () => {
    throw problems.noFilename(route)
  }
}
