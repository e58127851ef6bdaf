import type { ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { connectionOf } from '../exchange/connection.ts'

/**
 * Calls `action` once everything that came before on the connection is answered, at once as a rule. Whoever comes next
 * waits for `response`. Node hands requests over as they come, but only safe ones may be processed side by side
 * (RFC 9112 §9.3.2), and what a client sends behind an upload may be a request for that file.
 */
export function inTurn(
  socket: Duplex,
  response: ServerResponse | undefined,
  action: () => void,
): void {
  const connection = connectionOf(socket)
  const before = connection.newest
  if (response) connection.newest = response
  if (!before || before.closed) return action()
  connection.waiting++
  before.once('close', () => {
    connection.waiting--
    action()
    connection.onTurn?.()
  })
}
