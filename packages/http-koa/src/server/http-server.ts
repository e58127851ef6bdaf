import type { Server } from 'node:http'
import type Koa from 'koa'
import { http } from '../required.ts'
import { nodeOptions, prepareServer, type HttpServerOptions } from './prepare-server.ts'

/**
 * An HTTP server for a Koa application, not listening yet. Beyond `app.listen()` it lets a client that asks with
 * `Expect: 100-continue` send its body only when a route reads it, limits idleness instead of the length of requests,
 * and answers even what is no HTTP in the form that errors have.
 */
export function createHttpServer(
  app: Pick<Koa, 'callback'>,
  options: HttpServerOptions = {},
): Server {
  const server = http.createServer(nodeOptions(options))
  prepareServer(server, app, options)
  return server
}
