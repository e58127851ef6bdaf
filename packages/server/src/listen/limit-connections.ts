import { readFile } from 'node:fs/promises'
import type { Server } from 'node:http'
import type { HttpLog } from '@holdfast/http-koa'
import { createLineLimit } from '../log/append-lines.ts'

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

const minuteMs = 60_000

/**
 * Has `server` close connections beyond `limit` at once, each before anything is read of it. The first of a minute gets a
 * line in `log`, the others their number at its end.
 */
export function limitConnections(server: Server, limit: number, log: HttpLog): void {
  const report = (closed: number) =>
    log.warn({ limit, closed }, 'connections beyond the limit were closed at once')
  const lines = createLineLimit({ perWindow: 1, windowMs: minuteMs, onOmitted: report })
  server.maxConnections = limit
  server.on('drop', () => {
    if (lines.admit()) report(1)
  })
  server.once('close', lines.flush)
}

/** How many files and connections this process may have open; `undefined` where the system does not say, as Linux does. */
export async function openFilesLimit(): Promise<number | undefined> {
  // Node.js has raised the soft limit to the hard one.
  const limits = await readFile('/proc/self/limits', 'utf8').catch(() => '')
  const [, limit] = /^Max open files +(\d+|unlimited)/m.exec(limits) ?? []
  return limit === undefined ? undefined : Number(limit.replace('unlimited', 'Infinity'))
}
