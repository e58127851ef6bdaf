import type { IncomingMessage } from 'node:http'
import { knownExchange } from './exchange.ts'

/**
 * Lets a client that waits for a 100 send its body. To be called when the body is about to be read and not before, so
 * that a refused client never sends it.
 */
export function inviteBody(request: IncomingMessage): void {
  const exchange = knownExchange(request)
  if (!exchange?.awaitsContinue) return
  exchange.awaitsContinue = false
  exchange.response.writeContinue()
}
