import type { IncomingMessage, ServerResponse } from 'node:http'
import { onConnectionEnd } from './on-connection-end.ts'

interface Watch {
  isOver: boolean
  readonly actions: (() => void)[]
}

const watches = new WeakMap<ServerResponse, Watch>()

/** Calls `action` once when the answer to `request` has been sent to its end, or never will be; at once if it is over. */
export function onAnswerEnd(
  request: IncomingMessage,
  response: ServerResponse,
  action: () => void,
): void {
  // One listener for all: Node warns of more than ten, and has nearly as many of its own.
  const { isOver, actions } = watches.get(response) ?? watch(request, response)
  if (isOver) action()
  else actions.push(action)
}

function watch({ socket }: IncomingMessage, response: ServerResponse): Watch {
  const watched: Watch = { isOver: false, actions: [] }
  watches.set(response, watched)
  const end = () => {
    if (watched.isOver) return
    watched.isOver = true
    forget()
    for (const action of watched.actions) action()
  }
  response.once('close', end)
  // Node 22 does not tell answers that wait for those to earlier requests that their connection is gone.
  const forget = onConnectionEnd(socket, end)
  return watched
}
