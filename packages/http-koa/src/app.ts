import type { FileService } from '@holdfast/core'
import Koa from 'koa'
import type { HoldfastState } from './holdfast-state.ts'
import { createAddressOf } from './http/address-of.ts'
import { noLog } from './http/log.ts'
import { problems } from './http/problem.ts'
import { step } from './http/step.ts'
import { createAccessLog } from './middleware/access-log.ts'
import { createErrors } from './middleware/errors.ts'
import { requestId } from './middleware/request-id.ts'
import { createRouter, type RouterOptions } from './router.ts'

/** Codes of errors that mean no more than that the client left before the end of the answer. */
const clientLeft = new Set(['ECONNRESET', 'EPIPE', 'ERR_STREAM_PREMATURE_CLOSE', 'ECANCELED'])

/**
 * The whole service as a Koa application: the routes, one log line a request, and an error in the usual form for
 * every other path.
 */
export function createApp(service: FileService, options: RouterOptions = {}): Koa<HoldfastState> {
  const { log = noLog, trustedProxies } = options
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
  app.use(createAccessLog(log, createAddressOf(trustedProxies)))
  app.use(async (_ctx, next) => {
    await next()
    step('answer-ready')
  })
  app.use(createErrors(log))
  app.use(createRouter(service, options).routes())
  app.use(() => {
    throw problems.notFound()
  })
  return app
}
