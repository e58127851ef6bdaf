import type { Socket } from 'node:net'
import { onConnectionEnd } from './on-connection-end.ts'
import { problems } from './problem.ts'

/** What `action` comes to; its signal aborts when the client at the other end of `socket` leaves before that. */
export async function untilLeft<T>(
  socket: Socket,
  action: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const leaving = new AbortController()
  const forget = onConnectionEnd(socket, () => leaving.abort(problems.truncatedBody()))
  try {
    return await action(leaving.signal)
  } finally {
    forget()
  }
}
