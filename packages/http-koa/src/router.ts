import { createRequire } from 'node:module'
import type { FileService } from '@holdfast/core'
import type * as KoaRouter from '@koa/router'
import type { Router, RouterMiddleware } from '@koa/router'
import type { Middleware } from 'koa'
import { createDeleteBatch, remove, rename } from './changes.ts'
import { serveBatch } from './downloads/archive.ts'
import { serve } from './downloads/serve.ts'
import { recordChange } from './guards/audit.ts'
import { filesOf, createEntrance, type Entrance } from './guards/enter.ts'
import { createErrors } from './guards/errors.ts'
import { catchingErrors, createReporter, reportRequests, requestId } from './guards/request-log.ts'
import { deleted, versions, restore } from './history.ts'
import { problems } from './http/problems.ts'
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
import { createSetup, type RouterOptions, type Setup } from './options.ts'
import type { HoldfastState, Route } from './server/exchange.ts'
import { createBatch } from './uploads/batch.ts'
import { createPut, createDraftUpload, createResumable } from './uploads/file-body.ts'
import { createUpload, formByLink } from './uploads/form.ts'

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
