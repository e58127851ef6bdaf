import type { Socket } from 'node:net'
import { connectionOf, isAtRest } from './connection.ts'
import type { Exchange } from './exchange.ts'
import { problems } from '../errors/problem.ts'
import { isClosed } from './is-closed.ts'

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
  return (connectionOf(socket).leaving ??= watch(socket))
}

function watch(socket: Socket): AbortSignal {
  const leaving = new AbortController()
  onConnectionEnd(socket, () => {
    // No one listens then, and the error and the event would take a tenth of what a connection takes.
    if (!isAtRest(connectionOf(socket))) leaving.abort(problems.truncatedBody())
  })
  return leaving.signal
}
