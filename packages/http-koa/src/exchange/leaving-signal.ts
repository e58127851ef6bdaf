import type { Socket } from 'node:net'
import { connectionOf } from './connection.ts'
import { onConnectionEnd } from './on-connection-end.ts'
import { problems } from '../errors/problem.ts'

/**
 * A signal that aborts when the client at the other end of `socket` leaves. All requests of a connection have the same
 * one: who listens to it stops when it is not needed any more.
 */
export function leavingSignal(socket: Socket): AbortSignal {
  return (connectionOf(socket).leaving ??= watch(socket))
}

function watch(socket: Socket): AbortSignal {
  const leaving = new AbortController()
  onConnectionEnd(socket, () => leaving.abort(problems.truncatedBody()))
  return leaving.signal
}
