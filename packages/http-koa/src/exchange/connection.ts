import type { ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import type { Exchange } from './exchange.ts'

/** What is known of a connection beyond its latest request. */
export interface Connection {
  /** What is being processed, or was last; its response may have been sent already. */
  exchange?: Exchange
  /** The answer to the request that arrived last, whose turn may not have come yet. */
  newest?: ServerResponse
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
  /** How many bytes had moved when the connection was first found idle; `undefined` unless it is suspected. */
  bytesWhenSuspected?: number | undefined
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
