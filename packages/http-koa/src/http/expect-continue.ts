import type { IncomingMessage, ServerResponse } from 'node:http'

const waiting = new WeakMap<IncomingMessage, ServerResponse>()

/** Notes that the client of `request` waits for a 100 before it sends the body (RFC 9110 §10.1.1). */
export function noteExpectation(request: IncomingMessage, response: ServerResponse): void {
  waiting.set(request, response)
}

/**
 * Lets a waiting client send the body. To be called when the body is about to be read and not before, so that a refused
 * client never sends it.
 */
export function invite(request: IncomingMessage): void {
  waiting.get(request)?.writeContinue()
  waiting.delete(request)
}

/** Whether the client of `request` still waits for the 100. */
export function awaitsInvitation(request: IncomingMessage): boolean {
  return waiting.has(request)
}
