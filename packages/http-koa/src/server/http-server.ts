import type * as Http from 'node:http'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { createRequire } from 'node:module'
import type { Duplex } from 'node:stream'
import type * as Https from 'node:https'
import type { Server as HttpsServer } from 'node:https'
import type { Server as TcpServer, Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { having, requireOptions, requireText } from '@holdfast/core'
import { requestProblem, useOriginForm } from '../http/problems.ts'
import { applyIdleTimeout, limitPipelining } from './connection-limits.ts'
import {
  connectionOf,
  endExchanges,
  isClosed,
  isEnded,
  onExchangeEnd,
  releaseExchange,
  answerClientError,
  answerRaw,
  headersTooLarge,
} from './connection.ts'
import { exchangeOf } from './exchange.ts'

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
const defaultIdleTimeoutMs = 60_000

/** How long the head of a request may take at most, in milliseconds. */
const longestHeadMs = 60_000

/**
 * The options of Node's server. We check the Host header ourselves, to answer with the usual error body. The parser is strict,
 * and the size of a head is limited to Node's default, whatever the command line of Node says. A complete head must arrive
 * within the idle timeout, and within a minute; the time of a whole request is not limited.
 */
export function nodeOptions({ idleTimeoutMs = defaultIdleTimeoutMs }: HttpServerOptions) {
  // Node takes whole milliseconds only.
  const headersTimeout = Math.ceil(Math.min(idleTimeoutMs, longestHeadMs))
  return {
    requireHostHeader: false,
    insecureHTTPParser: false,
    maxHeaderSize: 16 * 1024,
    requestTimeout: 0,
    headersTimeout,
    connectionsCheckingInterval: Math.ceil(headersTimeout / 2),
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
    useOriginForm(request)
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
    keepWatching(server, request.socket)
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

/**
 * Node takes its own listeners from a socket after a CONNECT, although earlier requests may still be answered on it. Without a listener, an
 * error of the socket would end the process, a client that takes nothing would never be cut, and a list would wait forever until it may go
 * on.
 */
function keepWatching(server: Server, socket: Socket): void {
  // The socket is destroyed by itself.
  socket.on('error', () => {})
  socket.on('timeout', () => server.emit('timeout', socket))
  socket.on('drain', () => connectionOf(socket).exchange?.response.emit('drain'))
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
  if (!before || isClosed(before)) {
    connection.onRequest?.()
    return action()
  }
  connection.waiting++
  connection.onRequest?.()
  before.once('close', () => {
    connection.waiting--
    action()
    connection.onNext?.()
  })
}

/** A server's certificate, and its key. */
export interface ServerCertificate {
  /** PEM: the server's own certificate first, then the intermediate certificates up to an authority. */
  readonly certificate: string
  /** PEM, not encrypted. */
  readonly privateKey: string
}

/** How long a TLS handshake may take at most, in milliseconds. */
const longestHandshakeMs = 60_000

/**
 * The server of `createHttpServer` with TLS 1.2 or 1.3, not listening yet. A handshake may take as long as a client may be
 * idle, and a minute at most. A client that speaks HTTP without TLS gets an error that says so.
 */
export function createHttpsServer(
  app: HttpApp,
  certificate: ServerCertificate,
  options: HttpServerOptions = {},
): HttpsServer {
  requireOptions('createHttpsServer(app, { certificate, privateKey })', certificate, {
    certificate: requireText,
    privateKey: requireText,
  })
  const { idleTimeoutMs = defaultIdleTimeoutMs } = options
  // Loaded only now, since a server without TLS does not need it.
  const https = createRequire(import.meta.url)('node:https') as typeof Https
  const server = https.createServer({
    ...nodeOptions(options),
    ...contextOf(certificate),
    // As in Node without TLS: a client that has ended its side still gets an answer.
    allowHalfOpen: true,
    handshakeTimeout: Math.min(idleTimeoutMs, longestHandshakeMs),
  })
  const findTcpSocket = createTcpSocketFinder(server)
  // Runs before Node's own listener, which would answer a failed handshake by HTTP within TLS.
  server.prependListener(
    'tlsClientError',
    (error: Error & { code?: string }, socket: TLSSocket) => {
      const tcpSocket = error.code === 'ERR_SSL_HTTP_REQUEST' ? findTcpSocket(socket) : undefined
      if (tcpSocket)
        answerRaw(tcpSocket, 400, 'This port speaks HTTPS only: write https:// in the address')
      socket.destroy()
    },
  )
  prepareServer(server, app, options)
  limitPipelining(server, 'secureConnection')
  return server
}

/**
 * From now on, a server of {@link createHttpsServer} shows another certificate to new connections. Open connections go on as
 * they are.
 */
export function replaceCertificate(server: HttpsServer, certificate: ServerCertificate): void {
  server.setSecureContext(contextOf(certificate))
}

/** Sets the oldest allowed version of TLS, too, since Node's default can be lowered from outside. */
function contextOf({ certificate, privateKey }: ServerCertificate) {
  return { cert: certificate, key: privateKey, minVersion: 'TLSv1.2' } as const
}

/**
 * Makes a function that finds the TCP connection of a TLS connection of `server`, which speaks HTTPS, during the handshake and
 * after it. It knows the connections that are made from now on. Node reports the two by separate events, so they are matched by
 * the addresses and ports of both ends.
 */
export function createTcpSocketFinder(server: TcpServer): (socket: Socket) => Socket | undefined {
  const tcpSockets = new Map<string, Socket>()
  server.on('connection', (tcpSocket: Socket) => {
    const ends = endsOf(tcpSocket)
    tcpSockets.set(ends, tcpSocket)
    tcpSocket.once('close', () => {
      // A new connection may have the same ends before the old one's close is reported.
      if (tcpSockets.get(ends) === tcpSocket) tcpSockets.delete(ends)
    })
  })
  return (socket) => tcpSockets.get(endsOf(socket))
}

function endsOf(socket: Socket): string {
  const { remoteAddress, remotePort, localAddress, localPort } = socket
  return [remoteAddress, remotePort, localAddress, localPort].join(' ')
}

/**
 * Closes a server. It accepts no new connections, closes idle ones at once, and the others after the response to the latest of their
 * requests, which has `Connection: close` if its headers were not sent yet. After `graceMs`, or when `cut` aborts, it destroys the
 * remaining ones. Resolves when no connection is left: with `true` if none had to be destroyed.
 */
export type Drain = (graceMs: number, cut?: AbortSignal) => Promise<boolean>

/**
 * Makes the {@link Drain} of a server of `createHttpServer` or `createHttpsServer`; call it before the server listens. Node's own
 * `closeIdleConnections` is not enough: it does not close connections that have sent nothing yet, as browsers open them in advance,
 * and a drain would wait for them until its grace time is over.
 */
export function createDrain(server: Server): Drain {
  const connections = new Set<Socket>()
  const note = (socket: Socket) => {
    connections.add(socket)
    socket.once('close', () => connections.delete(socket))
  }
  server.on('connection', note)
  // Only a server for HTTPS has this method. A check of its class would load TLS.
  if ('setSecureContext' in server) {
    const findTcpSocket = createTcpSocketFinder(server)
    // After its handshake, a connection is another socket, on which the requests arrive.
    server.on('secureConnection', (socket: Socket) => {
      const tcpSocket = findTcpSocket(socket)
      if (tcpSocket) connections.delete(tcpSocket)
      note(socket)
    })
  }

  return async (graceMs, cut) => {
    // `close` calls it; it would destroy connections with answers that their clients have not taken yet.
    server.closeIdleConnections = () => {}
    const closed = new Promise<void>((resolve) => server.close(() => resolve()))
    const announce = (_: IncomingMessage, response: ServerResponse) => announceEnd(response)
    server.prependListener('request', announce).prependListener('checkContinue', announce)
    for (const socket of connections) {
      const { newest } = connectionOf(socket)
      if (newest === undefined || isClosed(newest)) socket.destroySoon()
      else {
        announceEnd(newest)
        newest.once('close', () => socket.destroySoon())
      }
    }
    const cutAll = () => connections.forEach((socket) => socket.destroy())
    return cutUnless(closed, cutAll, graceMs, cut)
  }
}

/** Announces to the client that the connection ends with this response, so that it sends no other request on it. */
function announceEnd(response: ServerResponse): void {
  if (!response.headersSent) response.setHeader('Connection', 'close')
}

/** Waits for `closed`. After `graceMs`, or when `cut` aborts, it calls `cutAll`. Resolves with `true` if that was not needed. */
async function cutUnless(
  closed: Promise<void>,
  cutAll: () => void,
  graceMs: number,
  cut?: AbortSignal,
): Promise<boolean> {
  let isClean = true
  const help = () => {
    isClean = false
    cutAll()
  }
  const timer = setTimeout(help, graceMs)
  cut?.addEventListener('abort', help, { once: true })
  if (cut?.aborted) help()
  await closed
  clearTimeout(timer)
  cut?.removeEventListener('abort', help)
  return isClean
}
