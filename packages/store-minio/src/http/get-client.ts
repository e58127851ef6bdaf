import { createSigner } from './create-signer.ts'
import { escapeUri } from './escape-uri.ts'
import { openGetConnection, type GetConnection } from './get-connection.ts'
import type { GetAnswer } from './get-exchange.ts'
import type { Connection } from './connection.ts'

/** What a GET of an object may ask for, by the names of HTTP. */
export interface GetHeaders {
  readonly range?: string
  readonly 'if-match'?: string
  readonly 'if-none-match'?: string
}

/** Gets objects, and only that, the short way. */
export interface GetClient {
  /**
   * Resolves with the answer, whatever its status. Rejects when there is none, or one whose length is not told; asks
   * only once.
   */
  readonly get: (
    bucket: string,
    key: string,
    headers: GetHeaders,
    signal?: AbortSignal,
  ) => Promise<GetAnswer>
  /** How many connections carry a request or an unread answer now. */
  readonly busyConnections: () => number
  readonly close: () => void
}

/** How many connections are kept for later. */
const mostFree = 32

/** A client for the server of `connection`. */
export function createGetClient(connection: Connection): GetClient {
  const endpoint = new URL(connection.endpoint)
  const sign = createSigner(connection)
  const free: GetConnection[] = []
  const busy = new Set<GetConnection>()
  let isClosed = false

  const open = () =>
    openGetConnection({
      ...connection,
      endpoint,
      onFree: (one) => {
        busy.delete(one)
        if (isClosed || free.length >= mostFree) one.destroy()
        else free.push(one)
      },
      onClose: (one) => {
        busy.delete(one)
        if (free.includes(one)) free.splice(free.indexOf(one), 1)
      },
    })

  return {
    async get(bucket, key, headers, signal) {
      const path = pathOf(bucket, key)
      const fields = sign('GET', path, { host: endpoint.host, ...headers })
      signal?.throwIfAborted()
      if (isClosed)
        throw Object.assign(new Error('The store has been closed'), { code: 'ECANCELED' })
      const one = free.pop() ?? open()
      busy.add(one)
      const give = () => one.destroy()
      signal?.addEventListener('abort', give, { once: true })
      try {
        return await one.send(`GET ${path} HTTP/1.1\r\n${fields}\r\n`)
      } finally {
        signal?.removeEventListener('abort', give)
      }
    },
    busyConnections: () => busy.size,
    close() {
      isClosed = true
      for (const one of [...free, ...busy]) one.destroy()
    },
  }
}

function pathOf(bucket: string, key: string): string {
  return `/${[bucket, ...key.split('/')].map(escapeUri).join('/')}`
}
