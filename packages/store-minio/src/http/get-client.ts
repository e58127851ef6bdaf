import { createSigner, escapeUri } from './create-signer.ts'
import { openGetConnection, type GetConnection, type ServerAccess } from './get-connection.ts'
import type { GetAnswer } from './get-exchange.ts'

/** The range and the conditions of a GET, by their names in HTTP. */
export interface GetHeaders {
  readonly range?: string
  readonly 'if-match'?: string
  readonly 'if-none-match'?: string
}

/** Sends GET requests for objects, without the S3 client. */
export interface GetClient {
  /** Resolves with the answer, whatever its status. Rejects if no answer comes, or one without a length. Never retries. */
  readonly get: (
    bucket: string,
    key: string,
    headers: GetHeaders,
    signal?: AbortSignal,
  ) => Promise<GetAnswer>
  /** The number of connections that carry a request, or an answer that has not been read completely. */
  readonly busyConnections: () => number
  readonly close: () => void
}

/** The most idle connections that are kept. */
const maxIdle = 32

/** Creates a client for the server of `access`. */
export function createGetClient(access: ServerAccess): GetClient {
  const endpoint = new URL(access.endpoint)
  const sign = createSigner(access)
  const idle: GetConnection[] = []
  const busy = new Set<GetConnection>()
  let isClosed = false

  const open = () =>
    openGetConnection({
      ...access,
      endpoint,
      onIdle: (one) => {
        busy.delete(one)
        if (isClosed || idle.length >= maxIdle) one.destroy()
        else idle.push(one)
      },
      onClose: (one) => {
        busy.delete(one)
        if (idle.includes(one)) idle.splice(idle.indexOf(one), 1)
      },
    })

  return {
    async get(bucket, key, headers, signal) {
      const path = pathOf(bucket, key)
      const fields = sign('GET', path, { host: endpoint.host, ...headers })
      signal?.throwIfAborted()
      if (isClosed)
        throw Object.assign(new Error('The store has been closed'), { code: 'ECANCELED' })
      const one = idle.pop() ?? open()
      busy.add(one)
      const abort = () => one.destroy()
      signal?.addEventListener('abort', abort, { once: true })
      try {
        return await one.send(`GET ${path} HTTP/1.1\r\n${fields}\r\n`)
      } finally {
        signal?.removeEventListener('abort', abort)
      }
    },
    busyConnections: () => busy.size,
    close() {
      isClosed = true
      for (const one of [...idle, ...busy]) one.destroy()
    },
  }
}

function pathOf(bucket: string, key: string): string {
  return `/${[bucket, ...key.split('/')].map(escapeUri).join('/')}`
}
