import type * as Https from 'node:https'
import type { Server } from 'node:https'
import { createRequire } from 'node:module'
import type { Server as TcpServer, Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { requireOptions, requireText } from '@holdfast/core'
import { limitPipelining } from './connection-limits.ts'
import {
  defaultIdleTimeoutMs,
  nodeOptions,
  prepareServer,
  type HttpApp,
  type HttpServerOptions,
} from './http-server.ts'
import { answerRaw } from './raw-answer.ts'

/** A server's certificate, and its key. */
export interface ServerCertificate {
  /** PEM: the server's own certificate first, then the intermediate certificates up to an authority. */
  readonly certificate: string
  /** PEM, not encrypted. */
  readonly privateKey: string
}

/** How long a TLS handshake may take at most, in milliseconds. */
const longestHandshakeMs = 60_000

/**
 * The server of `createHttpServer` with TLS 1.2 or 1.3, not listening yet. A handshake may take as long as a client may be
 * idle, and a minute at most. A client that speaks HTTP without TLS gets an error that says so.
 */
export function createHttpsServer(
  app: HttpApp,
  certificate: ServerCertificate,
  options: HttpServerOptions = {},
): Server {
  requireOptions('createHttpsServer(app, { certificate, privateKey })', certificate, {
    certificate: requireText,
    privateKey: requireText,
  })
  const { idleTimeoutMs = defaultIdleTimeoutMs } = options
  // Loaded only now, since a server without TLS does not need it.
  const https = createRequire(import.meta.url)('node:https') as typeof Https
  const server = https.createServer({
    ...nodeOptions(options),
    ...contextOf(certificate),
    // As in Node without TLS: a client that has ended its side still gets an answer.
    allowHalfOpen: true,
    handshakeTimeout: Math.min(idleTimeoutMs, longestHandshakeMs),
  })
  const findWire = createWireFinder(server)
  // Runs before Node's own listener, which would answer a failed handshake by HTTP within TLS.
  server.prependListener(
    'tlsClientError',
    (error: Error & { code?: string }, socket: TLSSocket) => {
      const wire = error.code === 'ERR_SSL_HTTP_REQUEST' ? findWire(socket) : undefined
      if (wire) answerRaw(wire, 400, 'This port speaks HTTPS only: write https:// in the address')
      socket.destroy()
    },
  )
  prepareServer(server, app, options)
  limitPipelining(server, 'secureConnection')
  return server
}

/**
 * From now on, a server of {@link createHttpsServer} shows another certificate to new connections. Open connections go on as
 * they are.
 */
export function replaceCertificate(server: Server, certificate: ServerCertificate): void {
  server.setSecureContext(contextOf(certificate))
}

/** Sets the oldest allowed version of TLS, too, since Node's default can be lowered from outside. */
function contextOf({ certificate, privateKey }: ServerCertificate) {
  return { cert: certificate, key: privateKey, minVersion: 'TLSv1.2' } as const
}

/**
 * Makes a function that finds the TCP connection of a TLS connection of `server`, which speaks HTTPS, during the handshake and
 * after it. It knows the connections that are made from now on. Node reports the two by separate events, so they are matched by
 * the addresses and ports of both ends.
 */
export function createWireFinder(server: TcpServer): (socket: Socket) => Socket | undefined {
  const wires = new Map<string, Socket>()
  server.on('connection', (wire: Socket) => {
    const ends = endsOf(wire)
    wires.set(ends, wire)
    wire.once('close', () => {
      // A new connection may have the same ends before the old one's close is reported.
      if (wires.get(ends) === wire) wires.delete(ends)
    })
  })
  return (socket) => wires.get(endsOf(socket))
}

function endsOf(socket: Socket): string {
  const { remoteAddress, remotePort, localAddress, localPort } = socket
  return [remoteAddress, remotePort, localAddress, localPort].join(' ')
}
