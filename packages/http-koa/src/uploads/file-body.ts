import { createHash } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import {
  headerOfPart,
  type Draft,
  completenessAfter,
  tusHeaders,
  type DraftAnswer,
  type DraftRequest,
  type Tus,
  type TusAnswer,
} from '@holdfast/resumable'
import type { RouterMiddleware, RouterContext } from '@koa/router'
import type { ExpectedDigest, ResumableFiles } from '@holdfast/core'
import type { AuditRecorder } from '../guards/audit.ts'
import { problems } from '../http/problems.ts'
import { linkQuery } from '../links/open-link.ts'
import { leavingSignal } from '../server/connection.ts'
import { exchangeIn, fileNameInPath, type HoldfastState } from '../server/exchange.ts'
import { bodyOf, releaseChunks } from '../server/request-body.ts'
import {
  answerUpload,
  prepareUpload,
  uploadRequestOf,
  answerStored,
  noteName,
  uploaderOf,
  type UploadRequest,
} from './upload.ts'

type Handler = RouterMiddleware<HoldfastState>
type Context = RouterContext<HoldfastState>

/**
 * PUT /upload/:filename: stores the body, which is the file itself without a form. By `draft` it may come in pieces, if the client
 * asks for that.
 */
export function createPut(draft: Draft | undefined): Handler {
  return async (ctx) => {
    const exchange = exchangeIn(ctx)
    const name = fileNameInPath(ctx)
    // RFC 9110 §14.5: a part that is stored as the whole file would destroy the file.
    refusePart(ctx.req.headers['content-range'] === undefined ? undefined : 'content-range')
    const upload = uploadRequestOf(exchange)
    // By a link, the draft is not offered: only whole files may be sent.
    if (ctx.state.link === undefined && draft?.isCreation(ctx.req)) {
      return createByDraft(draft, ctx, upload, { name, uploads: '../uploads' })
    }
    refusePart(headerOfPart(ctx.req))
    return answerUpload(ctx, () => {
      const digest = contentDigestOf(ctx)
      const file = { name, ...(digest && { digest }), ...sizeOf(ctx.req), bytes: bodyOf(ctx.req) }
      return prepareUpload(upload, file).publish()
    })
  }
}

function refusePart(header: string | undefined): void {
  if (header === undefined) return
  throw problems.invalidHeader(header, 'an upload is always the whole file')
}

function sizeOf(request: IncomingMessage): { readonly size?: number } {
  const length = request.headers['content-length']
  return length === undefined ? {} : { size: Number(length) }
}

/** The handlers of /resumable for all methods: `examine` goes before authentication, and `answer` after it. */
interface Resumable {
  /** Answers OPTIONS, and refuses methods that the path does not have. */
  readonly examine: Handler
  readonly answer: Handler
}

/** Answers by `tus`, and records by `recorder` the files that are published and the uploads that are refused. */
export function createResumable(tus: Tus, recorder: AuditRecorder): Resumable {
  return {
    examine(ctx, next) {
      ctx.state.errorHeaders = tusHeaders
      const request = tusRequestOf(ctx)
      if (tus.methodOf(request) === 'OPTIONS') return send(ctx, tus.describe(request))
      ctx.state.route = 'resumable'
      return next()
    },
    async answer(ctx) {
      const files = resumableOf(ctx)
      const request = tusRequestOf(ctx)
      const record = recorder(exchangeIn(ctx))
      const answer = await tus.answer(files, request).catch(async (error: unknown) => {
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

function tusRequestOf(ctx: Context) {
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
    onName: noteName(ctx.state),
  }
}

function send(ctx: Context, { status, headers }: TusAnswer): void {
  // In this order: for a body of `null`, Koa sets the status 204.
  ctx.body = null
  ctx.status = status
  ctx.set(headers)
}

/** An upload by the draft that a client creates. */
interface DraftCreation {
  readonly name: string
  /** The URL of uploads, relative to the path of the request. */
  readonly uploads: string
}

/** Creates the upload, and answers as the draft demands. */
export async function createByDraft(
  draft: Draft,
  ctx: Context,
  { options: { createOnly = false } }: UploadRequest,
  { name, uploads }: DraftCreation,
): Promise<void> {
  const sha256 = sha256OfFile(ctx)
  const options = {
    createOnly,
    ...(sha256 !== undefined && { sha256 }),
    location: (id: string) => `${uploads}/${id}`,
  }
  await answer(ctx, (request) => draft.create(resumableOf(ctx), name, options, request))
}

/** The handlers of an upload that was created. */
export function createDraftUpload(draft: Draft): Record<'get' | 'patch' | 'delete', Handler> {
  return {
    get: (ctx) => answer(ctx, () => draft.retrieve(resumableOf(ctx), idIn(ctx))),
    patch: (ctx) => answer(ctx, (request) => draft.append(resumableOf(ctx), idIn(ctx), request)),
    delete: (ctx) => answer(ctx, () => draft.cancel(resumableOf(ctx), idIn(ctx))),
  }
}

/** Sends the answer of the draft; after the file was published, that of a plain upload. */
async function answer(
  ctx: Context,
  work: (request: DraftRequest) => Promise<DraftAnswer>,
): Promise<void> {
  const request = requestOf(ctx)
  const { status, headers, upload } = await work(request).catch((error: unknown) => {
    ctx.state.errorHeaders = { 'Upload-Complete': completenessAfter(error, request) }
    throw error
  })
  if (upload) ctx.state.fileName = upload.plan.name
  if (upload?.published && status === 200) {
    answerStored(ctx, upload.published)
  } else {
    // In this order: for a body of `null`, Koa sets the status 204.
    ctx.body = null
    ctx.status = status
  }
  ctx.set(headers)
}

function resumableOf(ctx: Context): ResumableFiles {
  const { resumable } = uploaderOf(ctx.state)
  if (resumable === undefined) throw new TypeError('The store keeps no uploads in pieces')
  return resumable
}

function idIn(ctx: Context): string {
  return ctx.params.id ?? ''
}

function requestOf(ctx: Context): DraftRequest {
  const { req, res } = ctx
  return {
    headers: headersOf(req),
    digest: contentDigestOf(ctx),
    content: () => bodyOf(req),
    ...releaseChunks(req),
    inform(headers) {
      // A client of HTTP/1.0 would take it as the response (RFC 9110 §15.2), and Node.js 22 cannot send it.
      if (req.httpVersion !== '1.1' || !('writeInformation' in res) || res.headersSent) return
      res.writeInformation(104, headers)
    },
  }
}

/** The headers, with the length 0 if none is given: such a request of HTTP/1 has no content (RFC 9112 §6.3). */
function headersOf({ headers }: RouterContext['req']): DraftRequest['headers'] {
  const saysLength = 'content-length' in headers || 'transfer-encoding' in headers
  return saysLength ? headers : { ...headers, 'content-length': '0' }
}

/** The digest of the whole file in `Repr-Digest` (RFC 9530 §3). Only SHA-256 can be kept with an upload. */
function sha256OfFile(ctx: Context): string | undefined {
  const header = ctx.get('repr-digest')
  if (header === '') return undefined
  const expected = parseContentDigest(header)?.expected()
  if (expected?.length === 64) return expected
  throw problems.invalidHeader('repr-digest', 'sha-256 is needed for an upload in pieces')
}

/** @throws HttpProblem 400 also for one that is announced for the end of the body: its client would rely on a comparison that is not made */
function contentDigestOf(ctx: Context): ExpectedDigest | undefined {
  const trailers = ctx.get('trailer').toLowerCase().split(',')
  if (trailers.some((name) => name.trim() === 'content-digest')) {
    throw problems.invalidHeader('Content-Digest', 'it must come before the body')
  }
  return parseContentDigest(ctx.get('content-digest') || undefined)
}

const algorithms = { 'sha-256': 'sha256', 'sha-512': 'sha512' } as const

/**
 * The digest that a Content-Digest header (RFC 9530 §2) announces: SHA-256, or SHA-512 if there is no SHA-256. `undefined` if
 * there is neither; other algorithms are ignored, as §5 allows.
 *
 * @throws HttpProblem 400 when the value is not a digest of the algorithm's length
 */
export function parseContentDigest(header: string | undefined): ExpectedDigest | undefined {
  const members = new Map(
    (header ?? '').split(',').map((member) => {
      const [key = '', ...value] = member.trim().split('=')
      return [key.trim().toLowerCase(), value.join('=')]
    }),
  )
  for (const [name, algorithm] of Object.entries(algorithms)) {
    const value = members.get(name)
    if (value !== undefined) return expect(name, algorithm, value)
  }
  return undefined
}

function expect(name: string, algorithm: string, value: string): ExpectedDigest {
  const hash = createHash(algorithm)
  const base64 = /^:([A-Za-z0-9+/]*={0,2}):$/.exec(value)?.[1] ?? ''
  const digest = Buffer.from(base64, 'base64')
  if (digest.length !== hash.copy().digest().length) {
    throw problems.invalidHeader(
      'Content-Digest',
      `${name} must be a digest in base64 between colons`,
    )
  }
  return { hash, expected: () => digest.toString('hex') }
}
