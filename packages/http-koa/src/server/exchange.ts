import type { IncomingMessage, ServerResponse } from 'node:http'
import { channel } from 'node:diagnostics_channel'
import {
  checkFileName,
  type BlobInfo,
  type Customer,
  type CustomerFiles,
  type LinkUploads,
  type OpenBlob,
} from '@holdfast/core'
import type { Context } from 'koa'
import { problems } from '../http/problems.ts'
import { decodePathSegment } from '../http/text.ts'

/**
 * One request, its response, and all that is known of them. The server, the fast path, Koa's middleware, the log and the
 * audit trail share this one record, so that each step is taken once.
 */
export interface Exchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  /** What the routes have found out. In a Koa application it is `ctx.state`. */
  state: HoldfastState
  /** Whether a server of ours has found nothing wrong with the request, as `request-problem.ts` has it. */
  isExamined: boolean
  /** Whether the client waits for a 100 before it sends the body (RFC 9110 §10.1.1). */
  awaitsContinue: boolean
  /** Who reports the request after its end. */
  readonly reporters: unknown[]
  /** Who sent the request, and who was asked: a failed login counts once. */
  login?: { readonly by: unknown; readonly files: Promise<CustomerFiles> }
  /** Its entry, once someone has begun that. */
  entry?: Entry
  /** The file that the request asks for, where it has been opened before the route is reached. */
  opening?: Promise<OpenBlob> | undefined
  /** The upload, or the deletion, that the request asks for, where it began before the route is reached. */
  storing?: Promise<BlobInfo>
  deleting?: Promise<void>
  /** The record of that in the audit trail, where it was begun as well. */
  recording?: Promise<void>
  /** The bytes of both on the connection, once that is known. */
  bytes?: Pick<AnsweredRequest, 'bytesIn' | 'bytesOut'>
  /** Whether the log says already why the response broke off. */
  isFailureLogged: boolean
  /** Whether the response has been sent to its end, or never will be. */
  isOver: boolean
  /** Called at that point, in order; `undefined` until the first one is added. */
  endings?: (() => void)[]
}

/** That a request enters: who sent it is found out, and it takes a slot among the requests under way. */
export interface Entry {
  /** What finds out who sent it. */
  readonly by: unknown
  /** Resolves when the request has its slot; rejects where it is refused. */
  readonly entered: Promise<void>
  /** Gives the slot back, the first time that it is called after `entered` has resolved. */
  readonly release: () => void
}

// On the request itself: a WeakMap of all requests makes the garbage collector work twice as long for each of them.
const exchangeKey = Symbol('exchange')

interface KnownRequest extends IncomingMessage {
  [exchangeKey]?: Exchange | undefined
}

/** The record of a request; made by the first caller. */
export function exchangeOf(request: KnownRequest, response: ServerResponse): Exchange {
  return (request[exchangeKey] ??= {
    request,
    response,
    state: {},
    isExamined: false,
    awaitsContinue: false,
    reporters: [],
    isFailureLogged: false,
    isOver: false,
  })
}

/** The record of a request, if there is one yet. */
export function knownExchange(request: object): Exchange | undefined {
  const known: Pick<KnownRequest, typeof exchangeKey> = request
  return known[exchangeKey]
}

/** What is used of Koa's context. */
interface KoaContext {
  readonly req: IncomingMessage
  readonly res: ServerResponse
  readonly state: HoldfastState
}

/** The record of the request that a Koa application answers, with `ctx.state` as its state from now on. */
export function exchangeIn({ req, res, state }: KoaContext): Exchange {
  const exchange = exchangeOf(req, res)
  if (exchange.state !== state) exchange.state = Object.assign(state, exchange.state)
  return exchange
}

/** What holdfast's middleware keeps in `ctx.state`. */
export interface HoldfastState {
  requestId?: string
  /** The route that took the request, once one did. */
  route?: Route
  /** The files of the customer who sent the request, or whose link lets it read one, once that is known. */
  files?: CustomerFiles
  /** That a link has let the request in. */
  link?: {
    /** Whether its maker wants the content shown. */
    readonly inline?: boolean
    /** All that may be done by a link to upload; there are no `files` beside it. */
    readonly uploads?: LinkUploads
  }
  /** What the audit trail calls the request, where the route alone does not say it. */
  event?: 'upload-link'
  /** What the request calls the file that it is about, once that is known; it may not be a name that is allowed. */
  fileName?: string
  /** What an upload has stored, once that is safe. */
  stored?: BlobInfo
  /** Headers that the response has even if it is an error, because its protocol demands them. */
  errorHeaders?: Readonly<Record<string, string>>
  /** What went wrong, for the log line of the request. */
  failure?: unknown
}

/** What requests are counted by: the routes there are, and `other` for what is none of them. */
export const routes = [
  'upload',
  'put',
  'batch',
  'resumable',
  'serve',
  'list',
  'usage',
  'delete',
  'delete-batch',
  'link',
  'ping',
  'other',
] as const

export type Route = (typeof routes)[number]

/** What has become of a request. `undefined`: not known, or of no meaning. */
export interface AnsweredRequest {
  /** What the client got as `x-request-id`. */
  readonly requestId: string | undefined
  /** The route that took it; `other` for paths that are none, and methods that a path does not know. */
  readonly route: Route
  readonly method: string | undefined
  /** As it was sent, without the query. */
  readonly path: string | undefined
  /** The response's; `undefined` if none was sent. */
  readonly status: number | undefined
  /** Whether the response was cut off, usually because the client left: the client did not get it, whatever the status. */
  readonly isAborted: boolean
  /** From the arrival of the headers to the end of the answer. */
  readonly durationMs: number
  /** Bytes of the request and its answer on the connection, headers included. */
  readonly bytesIn: number
  readonly bytesOut: number
  /** The customer's name, once that was known; of a link, the customer who made it. */
  readonly customer: string | undefined
  /** Whether a link has let the request in. */
  readonly isByLink: boolean
  /** The client's IP address. */
  readonly address: string
  /** Why it was refused or failed: an `ErrorCode` of the core, or a code of docs/audit.md; `unexpected` for what has none. */
  readonly code: string | undefined
  /** The same in words for the operator; the client may have got another message. */
  readonly reason: string | undefined
}

/** Called for each request after its response was sent or cut off. Its result is not awaited. */
export type OnAnswered = (answered: AnsweredRequest) => void

/**
 * The customer whose link has let the request in, whoever else an application has found out before, or else the customer who sent
 * it; `undefined` as long as there is none.
 */
export function customerOf({ files, link }: HoldfastState): Customer | undefined {
  return link?.uploads?.customer ?? files?.customer
}

/**
 * Lets a client that waits for a 100 send its body. To be called when the body is about to be read and not before, so
 * that a refused client never sends it.
 */
export function inviteBody(request: IncomingMessage): void {
  const exchange = knownExchange(request)
  if (!exchange?.awaitsContinue) return
  exchange.awaitsContinue = false
  exchange.response.writeContinue()
}

/**
 * The file name that the path ends with, percent-decoded once, and judged before anything else of the request is.
 * `ctx.state.fileName` has it, too, even if it is refused.
 *
 * @throws HttpProblem 400 when it is not valid percent-encoding, or not UTF-8
 * @throws FileServiceError `invalid-file-name`
 */
export function fileNameInPath(ctx: Context & { state: HoldfastState }): string {
  // The router's own parameters are decoded leniently: `%ZZ` would pass for a name.
  const name = decodePathSegment(ctx.path.slice(ctx.path.lastIndexOf('/') + 1))
  if (name === undefined) throw problems.invalidFilename('it is not percent-encoded UTF-8')
  ctx.state.fileName = name
  checkFileName(name)
  return name
}

/** How many responses are sent together at most: while they wait, all that belongs to their requests stays in memory. */
const mostTogether = 32

interface Tick {
  readonly ended: Promise<undefined>
  readonly end: () => void
  waiting: number
}

let tick: Tick | undefined

/**
 * Resolves at the end of this tick of the event loop, after all bytes that have arrived were processed, or as soon as many
 * responses wait for it. They are sent together. A response that is sent alone wakes up a sleeping client or proxy, which
 * costs the system more than the rest of a small response. But with thousands of connections a tick has a thousand requests,
 * which would outlive runs of the garbage collector and leave the processor's caches.
 */
export function endOfTick(): Promise<undefined> {
  tick ??= begin()
  const { ended, end } = tick
  tick.waiting++
  if (tick.waiting === mostTogether) end()
  return ended
}

function begin(): Tick {
  const { promise, resolve } = Promise.withResolvers<undefined>()
  const begun: Tick = {
    ended: promise,
    end: () => {
      if (tick === begun) tick = undefined
      resolve(undefined)
    },
    waiting: 0,
  }
  setImmediate(begun.end)
  return begun
}

/**
 * The steps of a request that matter to what is stored, each named after what has just happened. They are published on
 * the diagnostics channel `holdfast:http-koa:step`, as these strings and before anything else happens, so that a
 * subscriber may look at the store, or end the process, right there.
 */
export const httpSteps = [
  // POST /upload: the closing boundary has been read, and nothing is published yet.
  'form-complete',
  // Whatever the answer is, its status is certain and nothing of it has been sent.
  'answer-ready',
] as const

/** One of {@link httpSteps}. */
export type HttpStep = (typeof httpSteps)[number]

const steps = channel('holdfast:http-koa:step')

/** Publishes that `name` has just happened. */
export function step(name: HttpStep): void {
  // Without a subscriber this is a call of an empty function.
  steps.publish(name)
}
