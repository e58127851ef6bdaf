import { once } from 'node:events'
import {
  Agent,
  createServer,
  request,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'

/** A proxy in front of an S3 server. */
export interface Proxy {
  readonly endpoint: string
  [Symbol.asyncDispose](): Promise<void>
}

export interface ProxiedRequest {
  readonly method: string
  readonly url: string
  readonly headers: IncomingHttpHeaders
  /** Sends the request to the S3 server. Each call sends it once more. */
  readonly forward: () => Promise<ProxiedAnswer>
}

export interface ProxiedAnswer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
}

/** Resolves with what the client gets; `undefined` for a connection that breaks. */
export type Pass = (incoming: ProxiedRequest) => Promise<ProxiedAnswer | undefined>

/** Starts one on 127.0.0.1. */
export async function startProxy(target: string, pass: Pass): Promise<Proxy> {
  const agent = new Agent({ keepAlive: true })

  const answer = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { method = '', url = '/', headers } = incoming
    const body = await buffer(incoming)
    const forward = async () => {
      const outgoing = request(new URL(url, target), { method, headers, agent })
      outgoing.end(body)
      const [found] = (await once(outgoing, 'response')) as [IncomingMessage]
      const { statusCode: status = 500, headers: fields } = found
      return { status, headers: fields, body: await buffer(found) }
    }
    const found = await pass({ method, url, headers, forward })
    if (found) response.writeHead(found.status, found.headers).end(found.body)
    else response.destroy()
  }
  const server = createServer((incoming, response) => {
    answer(incoming, response).catch(() => response.destroy())
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      agent.destroy()
      await once(server.close(), 'close')
    },
  }
}
