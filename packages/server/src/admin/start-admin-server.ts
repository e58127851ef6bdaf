import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createHttpServer, errorBody } from '@holdfast/http-koa'
import type { Logger } from 'pino'
import { createDrain } from '../listen/drain.ts'
import { explainListening, type ListeningPlace, listeningUrl } from '../listen/explain-listening.ts'
import { limitConnections } from '../listen/limit-connections.ts'

export interface AdminAnswer {
  readonly status: number
  /** The media type. */
  readonly type: string
  readonly text: string
}

/** Answers a GET of its path, and a HEAD. */
export type AdminRoute = () => AdminAnswer | Promise<AdminAnswer>

export interface AdminServer {
  /** Such as `http://127.0.0.1:3001`. */
  readonly url: string
  /** Lets the answers under way end. */
  close(): Promise<void>
}

/** How long an answer under way may take when the server is closed, in milliseconds. */
const graceMs = 1_000

/** Balancers and monitoring need few; each takes an open file from the service. */
const maxConnections = 64

const allow = 'GET, HEAD, OPTIONS'

/**
 * Listens for those who watch over the server, in plain HTTP, and answers by `routes`: paths, each with what it answers.
 * What goes wrong has the form of errors that all of holdfast has, and is logged where it is our fault.
 *
 * @throws SetupError for what an administrator can mend
 */
export async function startAdminServer(
  place: ListeningPlace,
  routes: Readonly<Record<string, AdminRoute>>,
  log: Logger,
): Promise<AdminServer> {
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    request.resume()
    const [path = ''] = (request.url ?? '').split('?')
    const route = Object.hasOwn(routes, path) ? routes[path] : undefined
    if (!route) return send(response, problem(404, 'Not Found'))
    if (request.method !== 'GET' && request.method !== 'HEAD')
      return refuseMethod(request, response)
    try {
      send(response, await route())
    } catch (error) {
      log.error({ err: error, path }, 'the admin port cannot answer')
      send(response, problem(500, 'An unexpected error occurred'))
    }
  }
  const server = createHttpServer({ callback: () => answer })
  limitConnections(server, maxConnections, log)
  const drain = createDrain(server)
  try {
    server.listen(place.port, place.host)
    await once(server, 'listening')
  } catch (error) {
    throw explainListening(error, place)
  }
  return {
    url: listeningUrl('http', server.address()),
    async close() {
      await drain(graceMs)
    },
  }
}

function refuseMethod({ method }: IncomingMessage, response: ServerResponse): void {
  response.setHeader('Allow', allow)
  if (method === 'OPTIONS') response.writeHead(204).end()
  else send(response, problem(405, `Method not allowed. Use ${allow}`))
}

function problem(status: number, message: string): AdminAnswer {
  return jsonAnswer(status, errorBody(status, message))
}

/** An answer of `body` as JSON. */
export function jsonAnswer(status: number, body: object): AdminAnswer {
  return { status, type: 'application/json; charset=utf-8', text: JSON.stringify(body) }
}

/** Node leaves the text out where the request was a HEAD. */
function send(response: ServerResponse, { status, type, text }: AdminAnswer): void {
  response.writeHead(status, {
    'Content-Type': type,
    'Content-Length': Buffer.byteLength(text),
    'Cache-Control': 'no-store',
  })
  response.end(text)
}
