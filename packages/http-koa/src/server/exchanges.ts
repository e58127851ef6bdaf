import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'

/** A request and its answer. */
export interface Exchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
}

const current = new WeakMap<Duplex, Exchange>()
const ended = new WeakSet<Duplex>()

export function noteExchange(request: IncomingMessage, response: ServerResponse): void {
  current.set(request.socket, { request, response })
}

/** The newest exchange on a connection, whose answer may have been sent already. */
export function exchangeOn(socket: Duplex): Exchange | undefined {
  return current.get(socket)
}

/** Notes that nothing behind what has arrived is taken for a request; `false` when that was noted before. */
export function endExchanges(socket: Duplex): boolean {
  if (ended.has(socket)) return false
  ended.add(socket)
  return true
}

/**
 * Whether the connection has ended, or the client has been told that it will: then no further request is processed, since
 * the client takes it for one that was not (RFC 9112 §9.6).
 */
export function isEnded(socket: Duplex): boolean {
  return (
    socket.destroyed ||
    ended.has(socket) ||
    exchangeOn(socket)?.response.getHeader('connection') === 'close'
  )
}
