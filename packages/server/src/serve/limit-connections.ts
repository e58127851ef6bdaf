import type { Server } from 'node:http'

/** What a process has open beside connections and requests: the log, the trail, the store, the admin port. */
const reserve = 128

/** What a request has open beside its connection: the file, and what it takes to publish it. */
const perRequest = 2

/**
 * How many connections leave enough of `openFiles` descriptors for the requests on them, of which `maxRequests` may be
 * under way. Without room for all of those, each connection may have one under way.
 */
export function connectionsWithin(openFiles: number, maxRequests: number): number {
  const left = openFiles - reserve
  return Math.max(1, Math.floor(left / (1 + perRequest)), left - perRequest * maxRequests)
}

/** Has `server` close connections beyond `limit` at once, each before anything is read of it. */
export function limitConnections(server: Server, limit: number): void {
  server.maxConnections = limit
}
