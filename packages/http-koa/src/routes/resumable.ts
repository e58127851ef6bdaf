import { tusHeaders, type Tus, type TusAnswer } from '@holdfast/resumable'
import type { RouterContext, RouterMiddleware } from '@koa/router'
import type { AuditRecorder } from '../audit/audit-recorder.ts'
import { bodyOf } from '../body/body-of.ts'
import { releaseChunks } from '../body/release-chunks.ts'
import { leavingSignal } from '../exchange/endings.ts'
import { exchangeIn } from '../exchange/exchange.ts'
import type { HoldfastState } from '../exchange/holdfast-state.ts'
import { linkQuery } from '../links/open-link.ts'
import { filesOf } from '../middleware/authenticate.ts'

type Handler = RouterMiddleware<HoldfastState>

/** /resumable, for all of its methods: `examine` goes before authentication, and `answer` after it. */
export interface Resumable {
  /** Answers OPTIONS, and refuses methods that the path does not know. */
  readonly examine: Handler
  readonly answer: Handler
}

/** Has `tus` answer, and `recorder` record the files that it publishes and the uploads that are refused. */
export function createResumable(tus: Tus, recorder: AuditRecorder): Resumable {
  return {
    examine(ctx, next) {
      ctx.state.errorHeaders = tusHeaders
      const request = requestOf(ctx)
      if (tus.methodOf(request) === 'OPTIONS') return send(ctx, tus.describe(request))
      ctx.state.route = 'resumable'
      return next()
    },
    async answer(ctx) {
      const { resumable } = ctx.state.link?.uploads ?? filesOf(ctx.state)
      if (resumable === undefined) throw new TypeError('The store keeps no uploads in pieces')
      const request = requestOf(ctx)
      const record = recorder(exchangeIn(ctx))
      const answer = await tus.answer(resumable, request).catch(async (error: unknown) => {
        const isUpload = ['POST', 'PATCH'].includes(tus.methodOf(request))
        if (isUpload) await record('upload', { file: ctx.state.fileName }, { error })
        throw error
      })
      const { plan, published } = answer.upload ?? {}
      if (plan) ctx.state.fileName = plan.name
      if (published && answer.hasPublished) {
        ctx.state.stored = published
        await record('upload', { file: published.name, bytes: published.size })
      }
      send(ctx, answer)
    },
  }
}

function requestOf(ctx: RouterContext<HoldfastState>) {
  const { req } = ctx
  return {
    method: ctx.method,
    headers: req.headers,
    path: ctx.path,
    id: ctx.params.id,
    ...(ctx.state.link && { query: linkQuery(ctx) }),
    content: () => bodyOf(req),
    signal: leavingSignal(req.socket),
    ...releaseChunks(req),
    onName: (name: string) => void (ctx.state.fileName = name),
  }
}

function send(ctx: RouterContext<HoldfastState>, { status, headers }: TusAnswer): void {
  // In this order: Koa takes a body that is null for status 204.
  ctx.body = null
  ctx.status = status
  ctx.set(headers)
}
