import type { ServerResponse, IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import type { Socket } from 'node:net'
import { type HttpProblem, statusText } from '@holdfast/resumable'
import { problems, errorBody } from '../http/problems.ts'
import type { Exchange } from './exchange.ts'

/** What is known of a connection beyond its latest request. */
export interface ClientConnection {
  /** The exchange that is being processed, or was processed last, until {@link releaseExchange}. */
  exchange?: Exchange | undefined
  /** Whether an exchange was released. */
  hasAnswered: boolean
  /** The response to the request that arrived last, which may still wait for earlier ones; released with its exchange. */
  newest?: ServerResponse | undefined
  /** How many requests have arrived. */
  arrived: number
  /** How many requests wait for the answers to those before them. */
  waiting: number
  /** Called when a request has arrived, and is counted if it waits. */
  onRequest?: () => void
  /** Called when one of the waiting requests no longer waits. */
  onNext?: () => void
  /** Whether bytes that still arrive are no longer read as requests. */
  isEnded: boolean
  /** Whether Node has given its parser to another connection, as it does after a CONNECT. */
  isUnparsed: boolean
  /** Aborts when the client leaves; made by the first call of {@link leavingSignal}. */
  leaving?: AbortSignal
  /** Called when the connection ends. */
  readonly endings: Set<() => void>
  /** How many bytes of the connection have been reported already, as part of a request or response. */
  readonly reported: { in: number; out: number }
  /**
   * How many bytes had moved when the connection was found idle, and how many of them the client had not acknowledged, where
   * the system shows that; `undefined` where the connection was not found idle.
   */
  seenIdle?: { readonly moved: number; readonly queued: number | undefined } | undefined
}

// Kept on the socket itself: a look-up in a WeakMap for each request takes longer than its routing.
const connectionKey = Symbol('connection')

interface KnownSocket extends Duplex {
  [connectionKey]?: ClientConnection
}

/** What is known of the connection of `socket`, which every request on it shares. */
export function connectionOf(socket: KnownSocket): ClientConnection {
  return socket[connectionKey] ?? watch(socket)
}

/** Adds one listener for each connection: it may have many requests, and a form may have many files. */
function watch(socket: KnownSocket): ClientConnection {
  const connection: ClientConnection = {
    hasAnswered: false,
    arrived: 0,
    waiting: 0,
    isEnded: false,
    isUnparsed: false,
    endings: new Set(),
    reported: { in: 0, out: 0 },
  }
  socket[connectionKey] = connection
  socket.once('close', () => {
    for (const action of connection.endings) action()
  })
  return connection
}

/**
 * Forgets an exchange that is complete: its kilobytes would stay in memory until the next request of the connection, or until
 * its end. An exchange whose response announced the end of the connection is kept, since {@link isEnded} reads it.
 */
export function releaseExchange(connection: ClientConnection, exchange: Exchange): void {
  const { request, response } = exchange
  if (!response.writableFinished || response.getHeader('connection') === 'close') return
  if (!request.complete) {
    request.once('end', () => releaseExchange(connection, exchange))
    return
  }
  if (connection.exchange?.request === request) connection.exchange = undefined
  if (connection.newest === response) connection.newest = undefined
  connection.hasAnswered = true
}

/** Whether every request of the connection has arrived completely, and every response has been sent to its end. */
function isAtRest({ exchange, newest, hasAnswered }: ClientConnection): boolean {
  if (exchange === undefined) return hasAnswered && newest === undefined
  const { request, response } = exchange
  return request.complete && response.writableFinished && newest === response
}

/** From now on, no further bytes of the connection are read as requests. Returns `false` if this was called before. */
export function endExchanges(socket: Duplex): boolean {
  const connection = connectionOf(socket)
  if (connection.isEnded) return false
  connection.isEnded = true
  return true
}

/**
 * Whether the connection has ended, or the server has announced its end. Then no further request may be processed: the client
 * assumes that it was not (RFC 9112 §9.6). Where Node itself has announced the end, it has ended its side with the response.
 */
export function isEnded(socket: Duplex): boolean {
  const { isEnded, exchange } = connectionOf(socket)
  if (socket.destroyed || socket.writableEnded) return true
  return isEnded || exchange?.response.getHeader('connection') === 'close'
}

/** A request or a response, on any runtime. */
interface Message {
  readonly closed?: boolean
  readonly destroyed: boolean
}

/** Whether a message was received or sent to its end, or was cut off. Responses of Deno have no `closed`. */
export function isClosed(message: Message): boolean {
  return message.closed ?? message.destroyed
}

/** Calls `action` once when the response has been sent or cut off; at once if it has been already. */
export function onExchangeEnd(exchange: Exchange, action: () => void): void {
  exchange.endings ??= watchEnd(exchange)
  if (exchange.isOver) action()
  else exchange.endings.push(action)
}

/** Adds one listener for all actions: Node warns of more than ten listeners, and adds nearly as many itself. */
function watchEnd(exchange: Exchange): (() => void)[] {
  const { request, response } = exchange
  const endings: (() => void)[] = []
  exchange.isOver = isClosed(response)
  if (exchange.isOver) return endings
  const end = () => {
    if (exchange.isOver) return
    exchange.isOver = true
    forget()
    for (const action of endings) action()
  }
  response.once('close', end)
  // When a connection ends, Node 22 does not notify the responses that wait for those to earlier requests.
  const forget = response.socket === null ? onConnectionEnd(request.socket, end) : () => {}
  return endings
}

/**
 * Calls `action` once when the connection ends, or in a microtask if it has ended already. The returned function cancels the
 * call: a connection may serve thousands of requests.
 */
export function onConnectionEnd(socket: Socket, action: () => void): () => void {
  if (socket.destroyed) {
    queueMicrotask(action)
    return () => {}
  }
  const { endings } = connectionOf(socket)
  endings.add(action)
  return () => void endings.delete(action)
}

/**
 * A signal that aborts when the client at the other end of `socket` leaves before its requests are answered. All requests
 * of a connection share it: remove listeners when they are no longer needed.
 */
export function leavingSignal(socket: Socket): AbortSignal {
  return (connectionOf(socket).leaving ??= watchLeaving(socket))
}

function watchLeaving(socket: Socket): AbortSignal {
  const leaving = new AbortController()
  onConnectionEnd(socket, () => {
    // Without open requests no one listens, and the error and the event would cost a tenth of what a connection costs.
    if (!isAtRest(connectionOf(socket))) leaving.abort(problems.truncatedBody())
  })
  return leaving.signal
}

/** The answer to headers that are too long, or too many. */
export const headersTooLarge = [431, 'The headers are too large'] as const

/** Answers by the parser's `reason`, where its code is the same for malformed and for unknown values. */
const ofReasons: Readonly<Record<string, HttpProblem>> = {
  'Invalid HTTP version': problems.unknownVersion(),
  'Invalid `Transfer-Encoding` header value': problems.unknownTransferCoding(),
}

/** Answers by the parser's `code`, where the answer is not 400. */
const statuses: Readonly<Record<string, readonly [status: number, message: string]>> = {
  HPE_HEADER_OVERFLOW: headersTooLarge,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: [413, 'The chunk extensions are too large'],
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'The request did not arrive in time'],
}

type ParserError = Error & { readonly code?: string; readonly reason?: string }

/** Answers what the parser refuses: bytes that are not HTTP, or a body that breaks off. */
export function answerClientError(error: ParserError, socket: Duplex): void {
  if (error.code === 'ECONNRESET' || hasSaidNothing(socket)) {
    socket.destroy()
    return
  }
  // The parser reports an error for each chunk after the first error, too.
  if (!endExchanges(socket)) return
  const { exchange } = connectionOf(socket)
  const [status, message] = answerTo(error) ?? [400, bodyOrRequest(exchange?.request)]
  const answer = () => answerRaw(socket, status, message)
  if (exchange === undefined) return answer()
  const { request, response } = exchange
  // The malformed bytes follow a request that is not answered yet.
  if (request.complete && !isClosed(response)) response.once('close', answer)
  else if (response.headersSent && !response.writableFinished) closeGently(socket)
  else answer()
}

function answerTo({ code = '', reason = '' }: ParserError) {
  const problem = ofReasons[reason]
  return problem ? ([problem.status, problem.message] as const) : statuses[code]
}

/** Whether the client has sent nothing: then the connection ends without an answer, as one that is idle between requests does. */
function hasSaidNothing(socket: Duplex): boolean {
  return 'bytesRead' in socket && socket.bytesRead === 0
}

function bodyOrRequest(request: IncomingMessage | undefined): string {
  if (request === undefined || request.complete) return 'Malformed request'
  const type = request.headers['content-type'] ?? ''
  return type.startsWith('multipart/') ? 'Malformed multipart body' : 'Truncated body'
}

/** How long a client may take to read the last answer, in milliseconds. */
const lastAnswerMs = 2_000

/** Answers on a socket that has no usable request, and closes it. Bytes that the client still sends are dropped. */
export function answerRaw(
  socket: Duplex,
  status: number,
  message: string,
  headers: readonly string[] = [],
): void {
  if (!socket.writable) {
    socket.destroy()
    return
  }
  const body = JSON.stringify(errorBody(status, message))
  socket.write(
    [
      `HTTP/1.1 ${status} ${statusText(status)}`,
      'Content-Type: application/json; charset=utf-8',
      `Content-Length: ${Buffer.byteLength(body)}`,
      'Cache-Control: no-store',
      `Date: ${new Date().toUTCString()}`,
      'Connection: close',
      ...headers,
      '',
      body,
    ].join('\r\n'),
  )
  closeGently(socket)
}

/** Closes a socket so that the client can still read what was sent; a reset would discard that. */
function closeGently(socket: Duplex): void {
  socket.on('error', () => {}).resume()
  socket.end()
  setTimeout(() => socket.destroy(), lastAnswerMs).unref()
}
