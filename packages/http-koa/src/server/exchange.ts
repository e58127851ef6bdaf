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
 * One request, its response, and all that is known about them. The server, the fast path, Koa's middleware, the log and the
 * audit trail share this record, so that each step is done only once.
 */
export interface Exchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  /** What the routes have found out. In a Koa application it is `ctx.state`. */
  state: HoldfastState
  /** Whether one of our servers has checked the request by `requestProblem`, and found nothing wrong. */
  isExamined: boolean
  /** Whether the client waits for a 100 before it sends the body (RFC 9110 §10.1.1). */
  awaitsContinue: boolean
  /** The reporters that report the request after its end; each reports it once. */
  readonly reporters: unknown[]
  /** The login of the request, and `by` which `Authenticate` it was made: a failed login counts only once. */
  login?: { readonly by: unknown; readonly files: Promise<CustomerFiles> }
  /** Its entry, once that has started. */
  entry?: Entry
  /** The file that the request asks for, if the fast path has opened it. */
  opening?: Promise<OpenBlob> | undefined
  /** The upload, or the deletion, that the request asks for, if the fast path has started it. */
  storing?: Promise<BlobInfo>
  deleting?: Promise<void>
  /** The record of that in the audit trail, if the fast path has started it. */
  recording?: Promise<void>
  /** How many bytes request and response took on the connection, once that is known. */
  bytes?: Pick<AnsweredRequest, 'bytesIn' | 'bytesOut'>
  /** Whether it has been logged why the response broke off. */
  isFailureLogged: boolean
  /** Whether the response was sent completely, or never will be. */
  isOver: boolean
  /** What to call when `isOver` becomes true, in order; `undefined` until the first one is added. */
  endings?: (() => void)[]
}

/** The entry of a request: the server finds out who sent it, and the request takes a slot among those under way. */
export interface Entry {
  /** What finds out who sent the request. */
  readonly by: unknown
  /** Resolves when the request has its slot; rejects where it is refused. */
  readonly entered: Promise<void>
  /** Gives the slot back, the first time that it is called after `entered` has resolved. */
  readonly release: () => void
}

// Kept on the request itself: with a WeakMap of all requests the garbage collector works twice as long for each of them.
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

/** The fields of Koa's context that are used here. */
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
  /** The route that handles the request, once it is known. */
  route?: Route
  /** The files of the customer who sent the request, or whose link lets it read one, once that is known. */
  files?: CustomerFiles
  /** Set once a link has let the request in. */
  link?: {
    /** Whether the customer who made the link wants browsers to show the content. */
    readonly inline?: boolean
    /** What a link to upload allows; `files` is absent then. */
    readonly uploads?: LinkUploads
  }
  /** The event in the audit trail, where it does not follow from the route. */
  event?: 'upload-link'
  /** The file name in the request, once it is known; it may be one that is not allowed. */
  fileName?: string
  /** The other name that a rename or a restore asks for; it may be one that is not allowed. */
  newName?: string
  /** The file that an upload or a restore has stored, once it is stored durably. */
  stored?: BlobInfo
  /** Headers that the protocol demands in the response, even if it is an error. */
  errorHeaders?: Readonly<Record<string, string>>
  /** What went wrong, for the log line of the request. */
  failure?: unknown
}

/** The routes by which requests are counted; `other` stands for requests that no route takes. */
export const routes = [
  'upload',
  'put',
  'batch',
  'resumable',
  'serve',
  'serve-batch',
  'list',
  'usage',
  'delete',
  'delete-batch',
  'rename',
  'versions',
  'deleted',
  'restore',
  'link',
  'revoke-links',
  'ping',
  'other',
] as const

export type Route = (typeof routes)[number]

/** A request that was answered or cut off. `undefined` fields are not known, or have no meaning for this request. */
export interface AnsweredRequest {
  /** The `x-request-id` that the client got. */
  readonly requestId: string | undefined
  /** The route that took the request; `other` for unknown paths, and for methods that a path does not have. */
  readonly route: Route
  readonly method: string | undefined
  /** As it was sent, without the query. */
  readonly path: string | undefined
  /** The response's; `undefined` if none was sent. */
  readonly status: number | undefined
  /** Whether the response was cut off, usually because the client left: then the client did not get it, whatever `status` is. */
  readonly isAborted: boolean
  /** From the arrival of the headers to the end of the answer. */
  readonly durationMs: number
  /** Bytes of the request and its answer on the connection, headers included. */
  readonly bytesIn: number
  readonly bytesOut: number
  /** The customer's name, if it was found out; for a link, the name of the customer who made it. */
  readonly customer: string | undefined
  /** The customer's further login that was used, or has made the link; `undefined` for the customer's own. */
  readonly login: string | undefined
  /** Whether a link has let the request in. */
  readonly isByLink: boolean
  /** The client's IP address. */
  readonly address: string
  /** Why it was refused or failed: an `ErrorCode` of the core, or a code of docs/audit.md; `unexpected` for what has none. */
  readonly code: string | undefined
  /** The same in words, for the operator; the client may have got another message. */
  readonly reason: string | undefined
  /** The error that `code` and `reason` are from; `undefined` where nothing went wrong. */
  readonly failure: unknown
}

/** Called for each request after its response was sent or cut off. Its result is not awaited. */
export type OnAnswered = (answered: AnsweredRequest) => void

/**
 * The customer whose link has let the request in, even if an application has identified another one before; otherwise the
 * customer who sent it. `undefined` until that is known.
 */
export function customerOf({ files, link }: HoldfastState): Customer | undefined {
  return link?.uploads?.customer ?? files?.customer
}

/**
 * Sends a 100 to a client that waits for it before it sends the body. Call this right before the body is read, and not
 * earlier, so that a client that is refused never sends it.
 */
export function inviteBody(request: IncomingMessage): void {
  const exchange = knownExchange(request)
  if (!exchange?.awaitsContinue) return
  exchange.awaitsContinue = false
  exchange.response.writeContinue()
}

/**
 * The file name at the end of the path, percent-decoded once. `ctx.state.fileName` gets it, too, even if it is refused. Call
 * this before anything else of the request is judged.
 *
 * @throws HttpProblem 400 when it is not valid percent-encoding, or not UTF-8
 * @throws FileServiceError `invalid-file-name`
 */
export function fileNameInPath(ctx: Context & { state: HoldfastState }): string {
  // The router decodes its parameters leniently: it would take `%ZZ` as a name.
  const name = decodePathSegment(ctx.path.slice(ctx.path.lastIndexOf('/') + 1))
  if (name === undefined) throw problems.invalidFilename('it is not percent-encoded UTF-8')
  ctx.state.fileName = name
  checkFileName(name)
  return name
}

/** The value of a parameter. @throws HttpProblem 400 when it is sent twice */
export function soleParameter(query: URLSearchParams, parameter: string): string | undefined {
  const values = query.getAll(parameter)
  if (values.length > 1) throw problems.invalidQuery(parameter, 'it is sent twice')
  return values[0]
}

/** How many responses are sent together at most. While they wait, everything of their requests stays in memory. */
const mostTogether = 32

interface Tick {
  readonly ended: Promise<undefined>
  readonly end: () => void
  waiting: number
}

let tick: Tick | undefined

/**
 * Resolves at the end of this tick of the event loop, after all bytes that have arrived were processed, or as soon as
 * {@link mostTogether} responses wait for it. They are sent together: each response that is sent alone wakes up a sleeping client
 * or proxy, which costs the system more than the rest of a small response. The number is limited because, with thousands of
 * connections, the requests of a tick would outlive runs of the garbage collector and leave the processor's caches.
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
 * The crash points of a request, each named after what has just happened. They are published as these
 * strings on the diagnostics channel `holdfast:http-koa:step`, before anything else happens, so that a subscriber can look at
 * the store, or end the process, at exactly that point.
 */
export const httpCrashPoints = [
  // POST /upload: the closing boundary has been read, and nothing is published yet.
  'form-complete',
  // The status of the answer, a success or an error, is certain, and nothing of it has been sent.
  'answer-ready',
] as const

/** One of {@link httpCrashPoints}. */
export type HttpCrashPoint = (typeof httpCrashPoints)[number]

const crashPoints = channel('holdfast:http-koa:step')

/** Publishes that the crash point `name` has been reached. */
export function crashPoint(name: HttpCrashPoint): void {
  // Without a subscriber this calls an empty function.
  crashPoints.publish(name)
}
