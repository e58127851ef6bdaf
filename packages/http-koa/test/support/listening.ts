import { once } from 'node:events'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { watchAnswers } from '@holdfast/testing/api-description'

/** A server that listens on a port of its own until the end of the scope that uses it. */
export interface Listening {
  readonly port: number
  readonly url: string
  /** How many connections are open. */
  connections(): Promise<number>
  [Symbol.asyncDispose](): Promise<void>
}

export async function listen(server: Server): Promise<Listening> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    port,
    url: `http://127.0.0.1:${port}`,
    connections: () =>
      new Promise((resolve, reject) => {
        server.getConnections((error, count) => (error ? reject(error) : resolve(count)))
      }),
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

/**
 * {@link listen}, of a server that answers for the service and for nothing else: at the end of the scope it fails where
 * an answer was not as docs/openapi.yaml describes it.
 */
export async function listenAsDescribed(server: Server): Promise<Listening> {
  const answers = watchAnswers(server)
  const listening = await listen(server)
  return {
    ...listening,
    async [Symbol.asyncDispose]() {
      await listening[Symbol.asyncDispose]()
      answers.expectDescribed()
    },
  }
}
