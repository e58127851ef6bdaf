import type { Socket } from 'node:net'

const pending = new WeakMap<Socket, Set<() => void>>()

/**
 * Calls `action` once when the connection ends, or in the next turn if it has ended already. The function returned takes
 * that back: the connection may live on for thousands of requests.
 */
export function onConnectionEnd(socket: Socket, action: () => void): () => void {
  if (socket.destroyed) {
    queueMicrotask(action)
    return () => {}
  }
  const actions = pending.get(socket) ?? watch(socket)
  actions.add(action)
  return () => void actions.delete(action)
}

/** One listener a connection: it may have many requests, and a form many files. */
function watch(socket: Socket): Set<() => void> {
  const actions = new Set<() => void>()
  pending.set(socket, actions)
  socket.once('close', () => {
    for (const action of actions) action()
  })
  return actions
}
