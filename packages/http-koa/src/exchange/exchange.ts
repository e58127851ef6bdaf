import type { IncomingMessage, ServerResponse } from 'node:http'
import type { BlobInfo, CustomerFiles, OpenBlob } from '@holdfast/core'
import type { HoldfastState } from './holdfast-state.ts'
import type { AnsweredRequest } from './answered-request.ts'

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
