import type { Duplex } from 'node:stream'
import { connectionOf } from '../exchange/connection.ts'

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
