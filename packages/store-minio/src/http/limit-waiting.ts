import type * as http from 'node:http'
import type { Socket } from 'node:net'
import type { Timeouts } from './connection.ts'

/** Destroys the request if the store exceeds the timeouts. */
export function limitWaiting(
  outgoing: http.ClientRequest,
  { connectTimeoutMs, idleTimeoutMs }: Timeouts,
): void {
  let incoming: http.IncomingMessage | undefined
  outgoing.once('response', (message) => (incoming = message))
  const giveUp = (what: string) => {
    const error = Object.assign(new Error(what), { name: 'TimeoutError', code: 'ETIMEDOUT' })
    incoming?.destroy(error)
    outgoing.destroy(error)
  }
  const connecting = setTimeout(
    () => giveUp(`No connection to the store within ${connectTimeoutMs} ms`),
    connectTimeoutMs,
  )
  outgoing.once('close', () => clearTimeout(connecting))

  const watch = (socket: Socket) => {
    clearTimeout(connecting)
    let waitedAt: number | undefined
    const onTimeout = () => {
      const isReaderSlow = incoming !== undefined && isUntaken(incoming)
      // The reader may have begun to wait only now: the store has the whole time from now on.
      const isReaderBack = incoming !== undefined && socket.bytesRead !== waitedAt
      if (!isReaderSlow && !isReaderBack) {
        return giveUp(`The store has been silent for ${idleTimeoutMs} ms`)
      }
      waitedAt = isReaderSlow ? undefined : socket.bytesRead
      return socket.setTimeout(idleTimeoutMs)
    }
    socket.setTimeout(idleTimeoutMs).on('timeout', onTimeout)
    outgoing.once('close', () => socket.setTimeout(0).off('timeout', onTimeout))
  }
  outgoing.once('socket', (socket: Socket) => {
    if (!socket.connecting) return watch(socket)
    const connected = 'encrypted' in socket ? 'secureConnect' : 'connect'
    socket.once(connected, () => watch(socket))
  })
}

/** Whether the reader has not yet read all that has come, the end included: then the reader is slow, not the store. */
function isUntaken({ readableLength, complete, readableEnded }: http.IncomingMessage): boolean {
  return readableLength > 0 || (complete && !readableEnded)
}
