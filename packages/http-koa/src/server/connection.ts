import type { ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import type { Socket } from 'node:net'
import type { OpenBlob } from '@holdfast/core'
import { problems } from '../http/problems.ts'
import type { Exchange } from './exchange.ts'

/** What is known of a connection beyond its latest request. */
export interface Connection {
  /** What is being processed, or was last, until {@link releaseExchange}. */
  exchange?: Exchange | undefined
  /** Whether an exchange was released. */
  hasAnswered: boolean
  /** The answer to the request that arrived last, whose turn may not have come yet; not kept when its exchange is not. */
  newest?: ServerResponse | undefined
  /** How many requests have arrived. */
  arrived: number
  /** How many requests wait for the answers to those before them. */
  waiting: number
  /** Called when one of them no longer waits. */
  onNext?: () => void
  /** Whether bytes that still arrive are no request any more. */
  isEnded: boolean
  /** Whether Node has given its parser to another connection, as it does after a CONNECT. */
  isUnparsed: boolean
  /** Aborts when the client leaves; made when first asked for. */
  leaving?: AbortSignal
  /** What is to be done when the connection ends. */
  readonly endings: Set<() => void>
  /** Bytes of the requests and responses that have been reported. */
  readonly reported: { in: number; out: number }
  /**
   * How many bytes had moved when the connection was found idle, and how many the client had not acknowledged, where that is
   * known; `undefined` unless it is suspected.
   */
  seenIdle?: { readonly moved: number; readonly queued: number | undefined } | undefined
}

// On the socket itself: to look each request up in WeakMaps takes longer than to route it.
const connectionKey = Symbol('connection')

interface KnownSocket extends Duplex {
  [connectionKey]?: Connection
}

/** What is known of the connection of `socket`, which every request on it shares. */
export function connectionOf(socket: KnownSocket): Connection {
  return socket[connectionKey] ?? watch(socket)
}

/** One listener a connection: it may have many requests, and a form many files. */
function watch(socket: KnownSocket): Connection {
  const connection: Connection = {
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
 * Forgets an exchange of which nothing is to come any more: the kilobytes of it would stay in memory until the connection's
 * next request, or until its end. After one that announced that the connection ends, it is still needed.
 */
export function releaseExchange(connection: Connection, { request, response }: Exchange): void {
  const isAnswered = request.complete && response.writableFinished
  if (!isAnswered || response.getHeader('connection') === 'close') return
  if (connection.exchange?.request === request) connection.exchange = undefined
  if (connection.newest === response) connection.newest = undefined
  connection.hasAnswered = true
}

/** Whether every request of the connection has arrived as a whole, and each response was taken to its end. */
function isAtRest({ exchange, newest, hasAnswered }: Connection): boolean {
  if (exchange === undefined) return hasAnswered && newest === undefined
  const { request, response } = exchange
  return request.complete && response.writableFinished && newest === response
}

/** From now on, no further bytes of the connection are taken for a request; `false` if this was called before. */
export function endExchanges(socket: Duplex): boolean {
  const connection = connectionOf(socket)
  if (connection.isEnded) return false
  connection.isEnded = true
  return true
}

/**
 * Whether the connection has ended, or its end was announced to the client. Then no further request is processed, since the
 * client assumes that it was not (RFC 9112 §9.6).
 */
export function isEnded(socket: Duplex): boolean {
  const { isEnded, exchange } = connectionOf(socket)
  return socket.destroyed || isEnded || exchange?.response.getHeader('connection') === 'close'
}

/** A request or a response, on any runtime. */
interface Message {
  readonly closed?: boolean
  readonly destroyed: boolean
}

/** Whether a message has come or been sent to its end, or was cut off. Responses of Deno have no `closed`. */
export function isClosed(message: Message): boolean {
  return message.closed ?? message.destroyed
}

/** Calls `action` once when the response has been sent or cut off; at once if it has been already. */
export function onExchangeEnd(exchange: Exchange, action: () => void): void {
  exchange.endings ??= watchEnd(exchange)
  if (exchange.isOver) action()
  else exchange.endings.push(action)
}

/** One listener for all actions: Node warns of more than ten, and has nearly as many of its own. */
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
  // Node 22 does not notify responses that wait for those to earlier requests when their connection ends.
  const forget = response.socket === null ? onConnectionEnd(request.socket, end) : () => {}
  return endings
}

/**
 * Calls `action` once when the connection ends, or in the next turn if it has ended already. The function returned
 * cancels the call: a connection may serve thousands of requests.
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
    // No one listens then, and the error and the event would take a tenth of what a connection takes.
    if (!isAtRest(connectionOf(socket))) leaving.abort(problems.truncatedBody())
  })
  return leaving.signal
}

/** Leaves the opened file to the route, which takes it from the exchange; closes it at the end if the route does not. */
export function leaveOpened(exchange: Exchange, opening: Promise<OpenBlob>): void {
  exchange.opening = opening
  const close = async () => (await takeOpened(exchange))?.close()
  onExchangeEnd(exchange, () => void close().catch(() => {}))
}

/** The file that has been opened for the request already, to be read or closed by the caller; or why it was not. */
export function takeOpened(exchange: Exchange): Promise<OpenBlob> | undefined {
  const { opening } = exchange
  exchange.opening = undefined
  return opening
}
