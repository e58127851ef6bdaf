import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { connectionOf, isClosed } from './connection.ts'
import { createTcpSocketFinder } from './http-server.ts'

/**
 * Closes a server. It accepts no new connections, closes idle ones at once, and the others after the response to the latest of their
 * requests, which has `Connection: close` if its headers were not sent yet. After `graceMs`, or when `cut` aborts, it destroys the
 * remaining ones. Resolves when no connection is left: with `true` if none had to be destroyed.
 */
export type Drain = (graceMs: number, cut?: AbortSignal) => Promise<boolean>

/**
 * Makes the {@link Drain} of a server of `createHttpServer` or `createHttpsServer`; call it before the server listens. Node's own
 * `closeIdleConnections` is not enough: it does not close connections that have sent nothing yet, as browsers open them in advance,
 * and a drain would wait for them until its grace time is over.
 */
export function createDrain(server: Server): Drain {
  const connections = new Set<Socket>()
  const note = (socket: Socket) => {
    connections.add(socket)
    socket.once('close', () => connections.delete(socket))
  }
  server.on('connection', note)
  // Only a server for HTTPS has this method. A check of its class would load TLS.
  if ('setSecureContext' in server) {
    const findTcpSocket = createTcpSocketFinder(server)
    // After its handshake, a connection is another socket, on which the requests arrive.
    server.on('secureConnection', (socket: Socket) => {
      const tcpSocket = findTcpSocket(socket)
      if (tcpSocket) connections.delete(tcpSocket)
      note(socket)
    })
  }

  return async (graceMs, cut) => {
    // `close` calls it; it would destroy connections with answers that their clients have not taken yet.
    server.closeIdleConnections = () => {}
    const closed = new Promise<void>((resolve) => server.close(() => resolve()))
    const announce = (_: IncomingMessage, response: ServerResponse) => announceEnd(response)
    server.prependListener('request', announce).prependListener('checkContinue', announce)
    for (const socket of connections) {
      const { newest } = connectionOf(socket)
      if (newest === undefined || isClosed(newest)) socket.destroySoon()
      else {
        announceEnd(newest)
        newest.once('close', () => socket.destroySoon())
      }
    }
    const cutAll = () => connections.forEach((socket) => socket.destroy())
    return cutUnless(closed, cutAll, graceMs, cut)
  }
}

/** Announces to the client that the connection ends with this response, so that it sends no other request on it. */
function announceEnd(response: ServerResponse): void {
  if (!response.headersSent) response.setHeader('Connection', 'close')
}

/** Waits for `closed`. After `graceMs`, or when `cut` aborts, it calls `cutAll`. Resolves with `true` if that was not needed. */
async function cutUnless(
  closed: Promise<void>,
  cutAll: () => void,
  graceMs: number,
  cut?: AbortSignal,
): Promise<boolean> {
  let isClean = true
  const help = () => {
    isClean = false
    cutAll()
  }
  const timer = setTimeout(help, graceMs)
  cut?.addEventListener('abort', help, { once: true })
  if (cut?.aborted) help()
  await closed
  clearTimeout(timer)
  cut?.removeEventListener('abort', help)
  return isClean
}
