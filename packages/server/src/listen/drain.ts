import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { createWireFinder } from '@holdfast/http-koa'

/**
 * Closes the server. It accepts no new connections, closes idle ones at once, and the others after the response to their
 * request, which has `Connection: close` if its headers were not sent yet. After `graceMs`, or when `cut` aborts, it
 * destroys the rest. Resolves when no connection is left: to `true` if none had to be destroyed.
 */
export type Drain = (graceMs: number, cut?: AbortSignal) => Promise<boolean>

/**
 * Prepares `server`, before it listens, for being drained. Node's own `closeIdleConnections` is not enough: it spares
 * connections that have not sent anything yet, as browsers open them in advance, and a drain would wait for them until
 * its grace is over.
 */
export function createDrain(server: Server): Drain {
  const connections = new Map<Socket, Set<ServerResponse>>()
  let isDraining = false

  const note = (socket: Socket) => {
    connections.set(socket, new Set())
    socket.once('close', () => connections.delete(socket))
  }
  server.on('connection', note)
  // Only one for HTTPS has it. To ask for its class would be to load TLS.
  if ('setSecureContext' in server) {
    const findWire = createWireFinder(server)
    // Once its handshake is done, a connection is another socket, on which requests come.
    server.on('secureConnection', (socket: Socket) => {
      const wire = findWire(socket)
      if (wire) connections.delete(wire)
      note(socket)
    })
  }
  const noteRequest = ({ socket }: IncomingMessage, response: ServerResponse) => {
    const underWay = connections.get(socket)
    underWay?.add(response)
    if (isDraining) announceEnd(response)
    response.once('close', () => {
      underWay?.delete(response)
      if (isDraining && underWay?.size === 0) socket.destroySoon()
    })
  }
  server.prependListener('request', noteRequest)
  server.prependListener('checkContinue', noteRequest)

  return async (graceMs, cut) => {
    isDraining = true
    const closed = new Promise<void>((resolve) => server.close(() => resolve()))
    for (const [socket, underWay] of connections) {
      if (underWay.size === 0) socket.destroySoon()
      else underWay.forEach(announceEnd)
    }
    const cutAll = () => connections.forEach((_, socket) => socket.destroy())
    return cutUnless(closed, cutAll, graceMs, cut)
  }
}

/** Announces to the client that the connection ends with this response, so that it sends no other request on it. */
function announceEnd(response: ServerResponse): void {
  if (!response.headersSent) response.setHeader('Connection', 'close')
}

/** Waits for `closed`, and helps with `cutAll` when the time is over or `cut` aborts. `true` if that was not needed. */
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
