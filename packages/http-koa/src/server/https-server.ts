import { requireOptions, requireText } from '@holdfast/core'
import type { Server } from 'node:https'
import type { TLSSocket } from 'node:tls'
import { https } from '../modules/required.ts'
import { limitPipelining } from './limit-pipelining.ts'
import {
  defaultIdleTimeoutMs,
  nodeOptions,
  prepareServer,
  type HttpApp,
  type HttpServerOptions,
} from './prepare-server.ts'
import { answerRaw } from './raw-answer.ts'
import { createWireFinder } from './wire-finder.ts'

/** What a server shows to its clients to prove who it is. */
export interface ServerCertificate {
  /** PEM: the server's own certificate first, then those that lead from it to an authority. */
  readonly certificate: string
  /** PEM, not encrypted. */
  readonly privateKey: string
}

/** How long a TLS handshake may take at most, in milliseconds. */
const longestHandshakeMs = 60_000

/**
 * The server of `createHttpServer` with TLS 1.2 or 1.3 around it, not listening yet. A handshake may take as long as a
 * client may be idle, a minute at most. A client that speaks HTTP without TLS gets an error that says so.
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
  const server = https().createServer({
    ...nodeOptions(options),
    ...contextOf(certificate),
    // As Node has it without TLS: who says that no more is coming still gets an answer.
    allowHalfOpen: true,
    handshakeTimeout: Math.min(idleTimeoutMs, longestHandshakeMs),
  })
  const findWire = createWireFinder(server)
  // Before Node's own listener, which would have a failed handshake answered by HTTP within TLS.
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
 * Has a server of {@link createHttpsServer} show another certificate to those who connect from now on. Connections that
 * there are go on as they are.
 */
export function replaceCertificate(server: Server, certificate: ServerCertificate): void {
  server.setSecureContext(contextOf(certificate))
}

/** The oldest version is said here, since Node's default can be lowered from outside. */
function contextOf({ certificate, privateKey }: ServerCertificate) {
  return { cert: certificate, key: privateKey, minVersion: 'TLSv1.2' } as const
}
