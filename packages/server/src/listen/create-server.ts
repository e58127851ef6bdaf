import type { Server } from 'node:http'
import type { TLSSocket } from 'node:tls'
import {
  createHttpServer,
  createHttpsServer,
  replaceCertificate,
  type HttpServerOptions,
} from '@holdfast/http-koa'
import type { Logger } from 'pino'
import type { CertificateSource } from '../tls/open-certificate.ts'

type App = Parameters<typeof createHttpServer>[0]

export interface CreateServerOptions extends HttpServerOptions {
  readonly log: Logger
  /** With one the server speaks HTTPS, always with the certificate that is current; else HTTP. */
  readonly certificate?: Pick<CertificateSource, 'current' | 'onReplaced'> | undefined
}

/** The server for an application, not listening yet. */
export function createServer(
  app: App,
  { log, certificate, ...options }: CreateServerOptions,
): Server {
  if (certificate === undefined) return createHttpServer(app, options)
  const server = createHttpsServer(app, certificate.current(), options)
  certificate.onReplaced((next) => replaceCertificate(server, next))
  // Clients can fail handshakes at will, so they are logged at debug level only.
  server.on('tlsClientError', ({ message }: Error, { remoteAddress }: TLSSocket) =>
    log.debug({ address: remoteAddress, reason: message }, 'TLS handshake failed'),
  )
  return server
}
