import type * as Http from 'node:http'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { createRequire } from 'node:module'
import type { Duplex } from 'node:stream'
import { having } from '@holdfast/core'
import { requestProblem } from '../http/request-problem.ts'
import { applyIdleTimeout, limitPipelining } from './connection-limits.ts'
import {
  connectionOf,
  endExchanges,
  isClosed,
  isEnded,
  onExchangeEnd,
  releaseExchange,
} from './connection.ts'
import { exchangeOf } from './exchange.ts'
import { answerClientError, answerRaw, headersTooLarge } from './raw-answer.ts'

// With `import`, Node would read all exports of the module, and some of them load `fetch`: that takes 40 ms at each start.
const http = createRequire(import.meta.url)('node:http') as typeof Http

/**
 * An HTTP server for an application, such as one of Koa, not listening yet. It does more than `app.listen()`: a client that asks
 * with `Expect: 100-continue` sends its body only when a route reads it; idle time is limited instead of the duration of
 * requests; and even input that is not HTTP gets an error in the usual form.
 */
export function createHttpServer(app: HttpApp, options: HttpServerOptions = {}): Server {
  const server = http.createServer(nodeOptions(options))
  prepareServer(server, app, options)
  limitPipelining(server, 'connection')
  return server
}

export interface HttpServerOptions {
  /** How long a client may make no progress, in milliseconds. Default: one minute. */
  readonly idleTimeoutMs?: number
}

/** What answers requests: a Koa application, or any object with such a method. */
export interface HttpApp {
  callback(): (request: IncomingMessage, response: ServerResponse) => Promise<void>
}

/** Default of {@link HttpServerOptions.idleTimeoutMs}. */
export const defaultIdleTimeoutMs = 60_000

/** How long the head of a request may take at most, in milliseconds. */
const longestHeadMs = 60_000

/**
 * The options of Node's server. We check the Host header ourselves, to answer with the usual error body. The parser is strict,
 * and the size of a head is limited to Node's default, whatever the command line of Node says. A complete head must arrive
 * within the idle timeout, and within a minute; the time of a whole request is not limited.
 */
export function nodeOptions({ idleTimeoutMs = defaultIdleTimeoutMs }: HttpServerOptions) {
  const headersTimeout = Math.min(idleTimeoutMs, longestHeadMs)
  return {
    requireHostHeader: false,
    insecureHTTPParser: false,
    maxHeaderSize: 16 * 1024,
    requestTimeout: 0,
    headersTimeout,
    connectionsCheckingInterval: headersTimeout / 2,
  }
}

/** How many header fields a request may have. */
const maxHeaderFields = 1_000

/** Makes `server` answer by an application. It must have been made with the {@link nodeOptions} of the same options. */
export function prepareServer(
  server: Server,
  app: HttpApp,
  { idleTimeoutMs = defaultIdleTimeoutMs }: HttpServerOptions,
): void {
  having('callback')('The application', app)
  const callback = app.callback()
  const answer = (request: IncomingMessage, response: ServerResponse) => {
    if (request.rawHeaders.length > 2 * maxHeaderFields) return refuse(request, ...headersTooLarge)
    const wrong = requestProblem(request)
    if (wrong) return refuse(request, wrong.status, wrong.message)
    const exchange = exchangeOf(request, response)
    exchange.isExamined = true
    const connection = connectionOf(request.socket)
    connection.exchange = exchange
    onExchangeEnd(exchange, () => releaseExchange(connection, exchange))
    void callback(request, response)
  }

  server.on('request', keepingOrder(answer))
  server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
    exchangeOf(request, response).awaitsContinue = true
    keepingOrder(answer)(request, response)
  })
  server.on(
    'checkExpectation',
    keepingOrder((request) =>
      refuse(request, 417, 'The only supported expectation is 100-continue'),
    ),
  )
  server.on('connect', (request: IncomingMessage) => {
    connectionOf(request.socket).isUnparsed = true
    inOrder(request.socket, undefined, () => {
      if (isEnded(request.socket)) return
      refuse(request, 405, 'Method not allowed', [`Allow: ${knownMethods}`])
    })
  })
  server.on('clientError', answerClientError)
  // Some versions of Node silently drop the fields beyond a number, and with them conditions and second passwords.
  server.maxHeadersCount = 0
  answerHalfClosed(server)
  applyIdleTimeout(server, idleTimeoutMs)
}

/**
 * A client may end its side of the connection and wait for the response, as `nc -N` does. Without this option, which is not
 * documented, Node closes such connections. Truncated bodies are still refused.
 */
function answerHalfClosed(server: Server): void {
  Object.assign(server, { httpAllowHalfOpen: true })
}

/** Makes `answer` process the requests of a connection one after the other, and none after the end of the connection. */
function keepingOrder(answer: (request: IncomingMessage, response: ServerResponse) => void) {
  return (request: IncomingMessage, response: ServerResponse) =>
    inOrder(request.socket, response, () => {
      if (isEnded(request.socket)) request.resume()
      else answer(request, response)
    })
}

/** Refuses a request and closes the connection. */
function refuse(
  request: IncomingMessage,
  ...answer: readonly [status: number, message: string, headers?: readonly string[]]
): void {
  endExchanges(request.socket)
  // Discards the body.
  request.resume()
  answerRaw(request.socket, ...answer)
}

/** The methods that paths have. A CONNECT has no path of its own. */
const knownMethods = 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS'

/**
 * Calls `action` once all earlier requests of the connection are answered, usually at once. The next request waits for
 * `response`. Node delivers pipelined requests as they arrive, but only safe ones may be processed concurrently (RFC 9112
 * §9.3.2): a request after an upload may ask for that file.
 */
function inOrder(socket: Duplex, response: ServerResponse | undefined, action: () => void): void {
  const connection = connectionOf(socket)
  const before = connection.newest
  if (response) {
    connection.newest = response
    connection.arrived++
  }
  if (!before || isClosed(before)) return action()
  connection.waiting++
  before.once('close', () => {
    connection.waiting--
    action()
    connection.onNext?.()
  })
}
