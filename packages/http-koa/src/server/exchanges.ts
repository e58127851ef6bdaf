import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'

/** A request and its answer. */
export interface Exchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
}

const current = new WeakMap<Duplex, Exchange>()

export function noteExchange(request: IncomingMessage, response: ServerResponse): void {
  current.set(request.socket, { request, response })
}

/** The newest exchange on a connection, whose answer may have been sent already. */
export function exchangeOn(socket: Duplex): Exchange | undefined {
  return current.get(socket)
}
