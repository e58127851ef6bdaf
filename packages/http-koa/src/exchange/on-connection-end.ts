import type { Socket } from 'node:net'
import { connectionOf } from './connection.ts'

/**
 * Calls `action` once when the connection ends, or in the next turn if it has ended already. The function returned takes
 * that back: the connection may live on for thousands of requests.
 */
export function onConnectionEnd(socket: Socket, action: () => void): () => void {
  if (socket.destroyed) {
    queueMicrotask(action)
    return () => {}
  }
  const { endings } = connectionOf(socket)
  endings.add(action)
  return () => void endings.delete(action)
}
