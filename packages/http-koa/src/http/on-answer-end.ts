import type { IncomingMessage, ServerResponse } from 'node:http'
import { onConnectionEnd } from './on-connection-end.ts'

interface Watch {
  isOver: boolean
  readonly actions: (() => void)[]
}

// On the answer itself: a WeakMap of all answers makes the garbage collector work twice as long for each request.
const watchKey = Symbol('watch')

interface WatchedResponse extends ServerResponse {
  [watchKey]?: Watch
}

/** Calls `action` once when the answer to `request` has been sent to its end, or never will be; at once if it is over. */
export function onAnswerEnd(
  request: IncomingMessage,
  response: WatchedResponse,
  action: () => void,
): void {
  // One listener for all: Node warns of more than ten, and has nearly as many of its own.
  const { isOver, actions } = response[watchKey] ?? watch(request, response)
  if (isOver) action()
  else actions.push(action)
}

function watch({ socket }: IncomingMessage, response: WatchedResponse): Watch {
  const watched: Watch = { isOver: response.closed, actions: [] }
  response[watchKey] = watched
  if (watched.isOver) return watched
  const end = () => {
    if (watched.isOver) return
    watched.isOver = true
    forget()
    for (const action of watched.actions) action()
  }
  response.once('close', end)
  // Node 22 does not tell answers that wait for those to earlier requests that their connection is gone.
  const forget = response.socket === null ? onConnectionEnd(socket, end) : () => {}
  return watched
}
