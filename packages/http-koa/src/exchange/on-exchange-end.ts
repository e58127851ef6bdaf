import type { Exchange } from './exchange.ts'
import { onConnectionEnd } from './on-connection-end.ts'

/** Calls `action` once when the response has been sent to its end, or never will be; at once if that is so already. */
export function onExchangeEnd(exchange: Exchange, action: () => void): void {
  exchange.endings ??= watchEnd(exchange)
  if (exchange.isOver) action()
  else exchange.endings.push(action)
}

/** One listener for all actions: Node warns of more than ten, and has nearly as many of its own. */
function watchEnd(exchange: Exchange): (() => void)[] {
  const { request, response } = exchange
  const endings: (() => void)[] = []
  exchange.isOver = response.closed
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
