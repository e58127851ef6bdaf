import type { ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
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
  onTurn?: () => void
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
export function isAtRest({ exchange, newest, hasAnswered }: Connection): boolean {
  if (exchange === undefined) return hasAnswered && newest === undefined
  const { request, response } = exchange
  return request.complete && response.writableFinished && newest === response
}
