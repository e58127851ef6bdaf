import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setImmediate as turn } from 'node:timers/promises'

/** What one connection sends, and how. */
export interface Sending {
  /** Sent in this order, each so many times. */
  readonly pieces: readonly (readonly [bytes: Buffer, times: number])[]
  /** Where it breaks off, in ten-thousandths of the whole. */
  readonly cut: number
  /** How many bytes are written at a time. */
  readonly step: number
  /** Whether the client never reads an answer. */
  readonly isUnread: boolean
  /** What the client does when it has sent everything. */
  readonly end: 'stay' | 'half-close' | 'reset'
}

/** How much is sent at most, in bytes: in small steps less, since each takes a turn of the event loop. */
const mostBytes = 4 * 2 ** 20
const mostInSmallSteps = 4096
const smallStep = 64

/** How long it is sent, in milliseconds. A server need not read it. */
const timeMs = 400

/** Sends it on a new connection, for a time, and resolves with the connection, which may be closed by then. */
export async function sendBytes(port: number, sending: Sending): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true, allowHalfOpen: true })
  // A server that refuses may close while there is still something to send.
  socket.on('error', () => {})
  if (sending.isUnread) socket.pause()
  else socket.resume()
  await once(socket, 'connect')
  const timeout = AbortSignal.timeout(timeMs)
  const bytes = bytesOf(sending)
  for (let at = 0; at < bytes.length && !socket.destroyed; at += sending.step) {
    const isTaken = socket.write(bytes.subarray(at, at + sending.step))
    if (timeout.aborted) break
    if (isTaken) await turn()
    else
      await Promise.race([once(socket, 'drain', { signal: timeout }), once(socket, 'close')]).catch(
        () => {},
      )
  }
  if (sending.end === 'half-close') socket.end()
  if (sending.end === 'reset') socket.resetAndDestroy()
  return socket
}

function bytesOf({ pieces, cut, step }: Sending): Buffer {
  const most = step < smallStep ? mostInSmallSteps : mostBytes
  const all: Buffer[] = []
  let length = 0
  for (const [bytes, times] of pieces) {
    for (let n = 0; n < times && length < most; n++) {
      all.push(bytes)
      length += bytes.length
    }
  }
  const whole = Buffer.concat(all)
  return whole.subarray(0, Math.ceil((Math.min(most, whole.length) * cut) / 10_000))
}
