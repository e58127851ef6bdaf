import type { FileService } from '@holdfast/core'
import Koa from 'koa'
import { createFastPath, type FastPath } from './fast-path.ts'
import { createEntrance, filesOf, type Entrance } from './guards/enter.ts'
import { type HttpLog, createErrors } from './guards/errors.ts'
import {
  catchingErrors,
  createReporter,
  logAnswers,
  reportRequests,
  requestId,
} from './guards/request-log.ts'
import { problems } from './http/problems.ts'
import { createSetup, type RouterOptions, type Setup } from './options.ts'
import { onExchangeEnd } from './server/connection.ts'
import {
  crashPoint,
  endOfTick,
  exchangeIn,
  knownExchange,
  type HoldfastState,
  type OnAnswered,
  type Route,
} from './server/exchange.ts'
import { createRequire } from 'node:module'
import type * as KoaRouter from '@koa/router'
import type { Router, RouterMiddleware } from '@koa/router'
import type { Middleware } from 'koa'
import { createDeleteBatch, remove, rename } from './changes.ts'
import { serveBatch } from './downloads/archive.ts'
import { serve } from './downloads/serve.ts'
import { recordChange } from './guards/audit.ts'
import { deleted, versions, restore } from './history.ts'
import { createMakeLink, revokeLinks } from './links/issue-link.ts'
import {
  createLinkOpening,
  createUploadLinkOpening,
  createUploadLinkRefusal,
  hasLink,
  nameInQuery,
} from './links/open-link.ts'
import {
  createFilePage,
  createPage,
  createRefusalPage,
  createUploadPage,
  openingOnce,
} from './links/page.ts'
import { list } from './lists/list.ts'
import { createBatch } from './uploads/batch.ts'
import { createPut, createDraftUpload, createResumable } from './uploads/file-body.ts'
import { createUpload, formByLink } from './uploads/form.ts'

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

// Its ES module imports `node:http`, which slows the start down; `server/http-server.ts` says by how much.
const koaRouter = createRequire(import.meta.url)('@koa/router') as typeof KoaRouter

/**
 * The routes of the service, to be mounted in any Koa application: `app.use(router.routes())`. The router answers its own
 * errors, in the form of the specification, and leaves all other paths to the application.
 */
export function createRouter(
  service: FileService,
  options: RouterOptions = {},
): Router<HoldfastState> {
  const setup = createSetup(service, options)
  const { log, addressOf, cors } = setup
  const { onAnswered } = options
  const report = onAnswered && createReporter(addressOf, catchingErrors(onAnswered, log))
  return createRoutes(setup, createEntrance(setup, report ?? (() => {})), [
    requestId,
    ...(report ? [reportRequests(report)] : []),
    ...(cors ? [cors] : []),
    createErrors(log),
  ])
}

/** The routes. `before` runs before each; it handles request ids and errors where the application does not. */
export function createRoutes(
  setup: Setup,
  entrance: Entrance,
  before: readonly Handler[] = [],
): Router<HoldfastState> {
  const { service, prefix, log, recorder, links, tus, draft, web } = setup
  const { customersOnly } = entrance
  const router = new koaRouter.Router<HoldfastState>({ prefix, sensitive: true, strict: true })
  const guarded = (name: Route, ...handlers: readonly Handler[]) =>
    called(name, customersOnly, ...handlers)
  const opening = links && { ...setup, ...entrance, links }
  const reading: Handler = opening ? createLinkOpening(opening) : customersOnly
  const writing: Handler = opening ? createUploadLinkOpening(opening) : customersOnly
  const uploading = recordChange('upload', recorder)
  const deleting = recordChange('delete', recorder)

  if (before.length > 0) router.use(...before)
  const put = createPut(draft)
  const openPage = web && openingOnce(web)
  const route = (
    path: string,
    handlers: Handlers,
    about: Readonly<Record<string, string>> = {},
    byLink: HandlersByLink = {},
  ) => {
    if (handlers.get) router.get(path, ...handlers.get)
    if (handlers.post) router.post(path, ...handlers.post)
    if (handlers.put) router.put(path, ...handlers.put)
    if (handlers.patch) router.patch(path, ...handlers.patch)
    if (handlers.delete) router.delete(path, ...handlers.delete)
    if (byLink.post) router.post(path, ...byLink.post.map(ifByLink))
    router.all(path, createOtherMethods(handlers, about, byLink))
  }

  route('/ping', { get: called('ping', ping) })
  // Section "Limits" of the draft.
  const resumable = draft ? { 'Upload-Limit': draft.limit } : {}
  route('/upload', { post: guarded('upload', uploading, createUpload(draft)) }, resumable)
  route('/upload/', { put: guarded('put', uploading, refuseNameless('upload')) })
  const byName = called('put', writing, uploading, put)
  const form = called('upload', writing, uploading, formByLink)
  const batch = guarded('batch', createBatch(log, recorder))
  // This is also the path of a file named `batch`, to which a link may lead.
  const batches = links ? called('batch', createUploadLinkRefusal(recorder), ...batch) : batch
  if (openPage && links) {
    router.get('/upload/:filename', createUploadPage(openPage, writing))
    router.get('/serve/:filename', createFilePage(openPage, reading))
    router.get('/serve/:filename', createRefusalPage(openPage))
  }
  route('/upload/batch', { post: batches, put: byName })
  route('/upload/:filename', { put: byName }, resumable, links && { post: form })
  route('/serve{/}', { get: guarded('serve', refuseNameless('serve')) })
  const byReading = called('serve', reading, serve)
  route('/serve/batch', { post: guarded('serve-batch', serveBatch), get: byReading })
  route('/serve/:filename', { get: byReading })
  route('/delete{/}', { delete: guarded('delete', deleting, refuseNameless('delete')) })
  const deleteByName = guarded('delete', deleting, remove)
  const deleteMany = guarded('delete-batch', createDeleteBatch(log, recorder))
  route('/delete/batch', { post: deleteMany, delete: deleteByName })
  route('/delete/:filename', { delete: deleteByName })
  if (service.canRename) {
    const renaming = recordChange('rename', recorder)
    route('/rename{/}', { post: guarded('rename', renaming, refuseNameless('rename')) })
    route('/rename/:filename', { post: guarded('rename', renaming, rename) })
  }
  if (service.hasHistory) {
    const restoring = recordChange('restore', recorder)
    route('/versions{/}', { get: guarded('versions', refuseNameless('versions')) })
    route('/versions/:filename', { get: guarded('versions', versions) })
    route('/deleted', { get: guarded('deleted', deleted) })
    route('/restore{/}', { post: guarded('restore', restoring, refuseNameless('restore')) })
    route('/restore/:filename', { post: guarded('restore', restoring, restore) })
  }
  route('/list', { get: guarded('list', list) })
  if (links) {
    const making = createMakeLink(links, setup.originOf)
    route('/link/:filename', {
      post: guarded('link', recordChange('link', recorder), making),
    })
  }
  if (links?.areRevocable) {
    route('/links', {
      delete: guarded('revoke-links', recordChange('revoke-links', recorder), revokeLinks),
    })
  }
  route('/usage', { get: guarded('usage', usage) })
  if (draft) {
    const { get, patch, delete: cancel } = createDraftUpload(draft)
    route('/uploads/:id', {
      get: guarded('resumable', get),
      patch: guarded('resumable', uploading, patch),
      delete: guarded('resumable', cancel),
    })
  }
  if (tus) {
    const { examine, answer } = createResumable(tus, recorder)
    const resuming = opening ? createUploadLinkOpening(opening, nameInQuery) : customersOnly
    const handlers = [examine, resuming, answer]
    router.post('/resumable{/}', ...handlers).all('/resumable{/}', ...handlers)
    router.register('/resumable/:id', ['HEAD', 'PATCH', 'DELETE'], handlers)
    router.all('/resumable/:id', ...handlers)
  }
  if (openPage) {
    const page = createPage(openPage)
    router.get('/', page).get('/assets/:asset', page)
  }
  return router
}

/** The handlers of a route. The first one also sets `state.route`: a handler of its own for that would cost time. */
function called(route: Route, first: Handler, ...others: readonly Handler[]): readonly Handler[] {
  const noting: Handler = (ctx, next) => {
    ctx.state.route = route
    const handling: unknown = first(ctx, next)
    return handling
  }
  return [noting, ...others]
}

function refuseNameless(route: string): Handler {
  return () => {
    throw problems.noFilename(route)
  }
}

type Handler = RouterMiddleware<HoldfastState>

/** The handlers of a path, by method. */
type Handlers = Partial<Record<'get' | 'post' | 'put' | 'patch' | 'delete', readonly Handler[]>>

/** The handlers that a path has only for requests with a link. */
type HandlersByLink = Pick<Handlers, 'post'>

/** `handler` for requests with a link; others go on to the next one. */
function ifByLink(handler: Handler): Handler {
  return (ctx, next) => {
    const handling: unknown = hasLink(ctx) ? handler(ctx, next) : next()
    return handling
  }
}

/** Answers OPTIONS, with the headers `about`, and refuses the methods that a path does not have (405, RFC 9110 §15.5.6). */
function createOtherMethods(
  handlers: Handlers,
  about: Readonly<Record<string, string>>,
  byLink: HandlersByLink,
): Handler {
  const [allow, allowByLink] = [handlers, { ...handlers, ...byLink }].map(allowed)
  return (ctx) => {
    const known = (hasLink(ctx) ? allowByLink : allow) ?? ''
    if (ctx.method !== 'OPTIONS') throw problems.methodNotAllowed(known)
    ctx.status = 204
    ctx.set({ Allow: known, ...about })
  }
}

function allowed(handlers: Handlers): string {
  const known = Object.keys(handlers).flatMap((method) =>
    method === 'get' ? ['GET', 'HEAD'] : [method.toUpperCase()],
  )
  return [...known, 'OPTIONS'].join(', ')
}

/** GET /ping: shows that the server answers. It asks for no credentials and does not use the store. */
const ping: Middleware = (ctx) => {
  ctx.type = 'text/plain; charset=utf-8'
  ctx.body = 'pong'
}

/** GET and HEAD /usage: how much the customer keeps, and may keep. */
const usage: RouterMiddleware<HoldfastState> = async (ctx) => {
  const found = await filesOf(ctx.state).usage()
  const { files, bytes, quota, maxFiles, login, may, unfinished, kept } = found
  ctx.type = 'application/json; charset=utf-8'
  ctx.set('Cache-Control', 'private, no-cache')
  ctx.body = JSON.stringify({ files, bytes, quota, maxFiles, login, may, unfinished, kept })
}
