import { once } from 'node:events'
import {
  createServer,
  request,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  type ServerResponse,
} from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

/** A server before MinIO that does some things in another way. */
export interface AlteringProxy {
  readonly endpoint: string
  [Symbol.asyncDispose](): Promise<void>
}

export interface Alterations {
  /** Answers by itself, if it returns true. */
  readonly answer?: (incoming: IncomingMessage, response: ServerResponse) => boolean
  /** The headers of MinIO's answers as they are passed on. */
  readonly headers?: (headers: OutgoingHttpHeaders) => OutgoingHttpHeaders
  /** The keys in MinIO's lists as they are passed on; MinIO encodes them as form data. */
  readonly listedKey?: (key: string) => string
  /** The lists of versions as they are passed on. */
  readonly versions?: (list: string) => string
}

/** Starts one on 127.0.0.1. */
export async function startAlteringProxy(
  target: string,
  { answer = () => false, headers: alter = (headers) => headers, listedKey, versions }: Alterations,
): Promise<AlteringProxy> {
  const server = createServer((incoming, response) => {
    if (answer(incoming, response)) {
      incoming.resume()
      return
    }
    const { method, url, headers } = incoming
    const outgoing = request(new URL(url ?? '/', target), { method, headers }, (found) => {
      if (listedKey && url?.includes('list-type=2') === true) {
        const change = (list: string) => list.replaceAll(/(?<=<Key>)[^<]*/g, listedKey)
        return void passList(found, response, change)
      }
      if (versions && url?.includes('?versions') === true) {
        return void passList(found, response, versions)
      }
      response.writeHead(found.statusCode ?? 500, alter(found.headers))
      found.pipe(response)
    })
    incoming.pipe(outgoing)
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await once(server.close(), 'close')
    },
  }
}

async function passList(
  found: IncomingMessage,
  response: ServerResponse,
  change: (list: string) => string,
): Promise<void> {
  const { 'content-length': _length, ...headers } = found.headers
  const list = await text(found)
  response.writeHead(found.statusCode ?? 500, headers)
  response.end(change(list))
}
