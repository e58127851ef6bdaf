import { readFile } from 'node:fs/promises'
import type { Server } from 'node:http'
import type { HttpLog } from '@holdfast/http-koa'
import { createLineLimit } from '../log/lines.ts'

/** How many files a process has open besides connections and requests: the log, the trail, the store, the admin port. */
const reserve = 128

/** How many files a request has open besides its connection: its file, and one more to publish it. */
const perRequest = 2

/**
 * How many connections may be open, so that enough of `openFiles` descriptors are left for `maxRequests` requests on them. If there
 * are not enough for so many requests, there are enough for one request on each connection.
 */
export function connectionsWithin(openFiles: number, maxRequests: number): number {
  const left = openFiles - reserve
  return Math.max(1, Math.floor(left / (1 + perRequest)), left - perRequest * maxRequests)
}

const minuteMs = 60_000

/**
 * Makes `server` close connections beyond `limit` at once, before anything is read from them. The first one in a minute is logged at
 * once, the number of the others at the end of the minute.
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

/** How many files and connections this process may have open; `undefined` if the system does not show that; Linux does. */
export async function openFilesLimit(): Promise<number | undefined> {
  // Node.js has raised the soft limit to the hard one.
  const limits = await readFile('/proc/self/limits', 'utf8').catch(() => '')
  const [, limit] = /^Max open files +(\d+|unlimited)/m.exec(limits) ?? []
  return limit === undefined ? undefined : Number(limit.replace('unlimited', 'Infinity'))
}
