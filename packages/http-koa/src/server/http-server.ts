import type { Server } from 'node:http'
import { http } from '../modules/required.ts'
import { limitPipelining } from './limit-pipelining.ts'
import {
  nodeOptions,
  prepareServer,
  type HttpApp,
  type HttpServerOptions,
} from './prepare-server.ts'

/**
 * An HTTP server for an application, such as one of Koa, not listening yet. Beyond `app.listen()` it lets a client that
 * asks with `Expect: 100-continue` send its body only when a route reads it, limits idleness instead of the length of
 * requests, and answers even what is no HTTP in the form that errors have.
 */
export function createHttpServer(app: HttpApp, options: HttpServerOptions = {}): Server {
  const server = http.createServer(nodeOptions(options))
  prepareServer(server, app, options)
  limitPipelining(server, 'connection')
  return server
}
