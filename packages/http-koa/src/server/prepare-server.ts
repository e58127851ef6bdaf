import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { answerClientError, headersTooLarge } from './client-error.ts'
import { endExchanges, isEnded } from './end-exchanges.ts'
import { applyIdleTimeout } from './idle-timeout.ts'
import { answerRaw } from './raw-answer.ts'
import { connectionOf } from '../exchange/connection.ts'
import { exchangeOf } from '../exchange/exchange.ts'
import { requestProblem } from '../http/request-problem.ts'

export interface HttpServerOptions {
  /** How long a client may make no progress, in milliseconds. Default: one minute. */
  readonly idleTimeoutMs?: number
}

/** How long the head of a request may take at most, in milliseconds. */
const longestHeadMs = 60_000

/** What answers requests: a Koa application, or whatever has such a method. */
export interface HttpApp {
  callback(): (request: IncomingMessage, response: ServerResponse) => Promise<void>
}

/**
 * What Node's own server needs to be told before. The check for a Host header is ours, for the sake of its answer. The
 * parser is strict, and the size of the head is what Node takes by default, whatever its command line says. All of a head has to
 * come within the time that a client may be idle, however steadily its bytes trickle; a whole request may take for ever.
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

/** Default of {@link HttpServerOptions.idleTimeoutMs}. */
export const defaultIdleTimeoutMs = 60_000

/** Has `server`, made with the {@link nodeOptions} of the same options, answer for an application. */
export function prepareServer(
  server: Server,
  app: HttpApp,
  { idleTimeoutMs = defaultIdleTimeoutMs }: HttpServerOptions,
): void {
  const callback = app.callback()
  const answer = (request: IncomingMessage, response: ServerResponse) => {
    if (request.rawHeaders.length > 2 * maxHeaderFields) return refuse(request, ...headersTooLarge)
    const wrong = requestProblem(request)
    if (wrong) return refuse(request, wrong.status, wrong.message)
    const exchange = exchangeOf(request, response)
    exchange.isExamined = true
    connectionOf(request.socket).exchange = exchange
    void callback(request, response)
  }

  server.on('request', takingTurns(answer))
  server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
    exchangeOf(request, response).awaitsContinue = true
    takingTurns(answer)(request, response)
  })
  server.on(
    'checkExpectation',
    takingTurns((request) => refuse(request, 417, 'The only known expectation is 100-continue')),
  )
  server.on('connect', (request: IncomingMessage) => {
    connectionOf(request.socket).isUnparsed = true
    inTurn(request.socket, undefined, () => {
      if (isEnded(request.socket)) return
      refuse(request, 405, 'Method not allowed', [`Allow: ${knownMethods}`])
    })
  })
  server.on('clientError', answerClientError)
  // Some versions of Node drop the fields beyond a number without a word, and with them conditions and second passwords.
  server.maxHeadersCount = 0
  answerHalfClosed(server)
  applyIdleTimeout(server, idleTimeoutMs)
}

/**
 * A client may say that no more is coming and wait for its answer, as `nc -N` does. Node closes such a connection unless
 * it is told otherwise by this, which its documentation leaves out. Bodies that end too early are refused all the same.
 */
function answerHalfClosed(server: Server): void {
  Object.assign(server, { httpAllowHalfOpen: true })
}

/** Has requests processed one after the other, and none behind the end of the connection. */
function takingTurns(answer: (request: IncomingMessage, response: ServerResponse) => void) {
  return (request: IncomingMessage, response: ServerResponse) =>
    inTurn(request.socket, response, () => {
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
  // Nobody else reads its body.
  request.resume()
  answerRaw(request.socket, ...answer)
}

/** What some path or other knows. CONNECT asks for none. */
const knownMethods = 'GET, HEAD, POST, PUT, DELETE, OPTIONS'

/**
 * Calls `action` once everything that came before on the connection is answered, at once as a rule. Whoever comes next
 * waits for `response`. Node hands requests over as they come, but only safe ones may be processed side by side
 * (RFC 9112 §9.3.2), and what a client sends behind an upload may be a request for that file.
 */
export function inTurn(
  socket: Duplex,
  response: ServerResponse | undefined,
  action: () => void,
): void {
  const connection = connectionOf(socket)
  const before = connection.newest
  if (response) connection.newest = response
  if (!before || before.closed) return action()
  connection.waiting++
  before.once('close', () => {
    connection.waiting--
    action()
    connection.onTurn?.()
  })
}
