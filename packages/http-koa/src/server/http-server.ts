import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import type Koa from 'koa'
import { noteExpectation } from '../http/expect-continue.ts'
import { answerClientError } from './client-error.ts'
import { noteExchange } from './exchanges.ts'
import { applyIdleTimeout } from './idle-timeout.ts'
import { answerRaw } from './raw-answer.ts'

export interface HttpServerOptions {
  /** How long a client may make no progress, in milliseconds. Default: one minute. */
  readonly idleTimeoutMs?: number
}

/**
 * An HTTP server for a Koa application, not listening yet. Beyond `app.listen()` it lets a client that asks with
 * `Expect: 100-continue` send its body only when a route reads it, limits idleness instead of the length of requests,
 * and answers even what is no HTTP in the form that errors have.
 */
export function createHttpServer(
  app: Pick<Koa, 'callback'>,
  { idleTimeoutMs = 60_000 }: HttpServerOptions = {},
): Server {
  const callback = app.callback()
  const handle = (request: IncomingMessage, response: ServerResponse) => {
    noteExchange(request, response)
    if (!hasOneHost(request)) return answerRaw(request.socket, 400, 'One Host header is required')
    void callback(request, response)
  }

  // The check for a Host header is ours, for the sake of the answer's form.
  const server = createServer({ requireHostHeader: false }, handle)
  server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
    noteExpectation(request, response)
    handle(request, response)
  })
  server.on('checkExpectation', (request: IncomingMessage) =>
    answerRaw(request.socket, 417, 'The only known expectation is 100-continue'),
  )
  server.on('connect', (_request: IncomingMessage, socket: Duplex) =>
    answerRaw(socket, 405, 'Method not allowed', [`Allow: ${knownMethods}`]),
  )
  server.on('clientError', answerClientError)
  applyIdleTimeout(server, idleTimeoutMs)
  return server
}

/** What some path or other knows. CONNECT asks for none. */
const knownMethods = 'GET, HEAD, POST, PUT, DELETE, OPTIONS'

/** RFC 9112 §3.2: exactly one, from HTTP/1.1 on. */
function hasOneHost(request: IncomingMessage): boolean {
  const hosts = request.headersDistinct['host'] ?? []
  return hosts.length === 1 || (hosts.length === 0 && request.httpVersion === '1.0')
}
