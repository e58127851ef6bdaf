import type { Duplex } from 'node:stream'
import { connectionOf } from '../exchange/connection.ts'

/** Notes that nothing behind what has arrived is taken for a request; `false` when that was noted before. */
export function endExchanges(socket: Duplex): boolean {
  const connection = connectionOf(socket)
  if (connection.isEnded) return false
  connection.isEnded = true
  return true
}

/**
 * Whether the connection has ended, or the client has been told that it will: then no further request is processed, since
 * the client takes it for one that was not (RFC 9112 §9.6).
 */
export function isEnded(socket: Duplex): boolean {
  const { isEnded, exchange } = connectionOf(socket)
  return socket.destroyed || isEnded || exchange?.response.getHeader('connection') === 'close'
}
