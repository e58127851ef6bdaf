import { once } from 'node:events'
import { Agent, createServer, request, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { createChoices } from '../soak/choices.ts'

/** A proxy in front of an S3 server that loses requests and answers. */
export interface LosingProxy {
  readonly endpoint: string
  /** Begins to lose some; until then all pass. A server that starts may find that uploads in pieces cannot be kept here. */
  readonly lose: () => void
  /** How many requests that change something were carried out without an answer. */
  readonly lostAnswers: () => number
  [Symbol.asyncDispose](): Promise<void>
}

/**
 * Starts one on 127.0.0.1. Of requests that change something, one in ten does not arrive, one in ten is carried out and
 * breaks the connection, and one in ten is carried out and answered by 504.
 */
export async function startLosingProxy(target: string, seed: number): Promise<LosingProxy> {
  const agent = new Agent({ keepAlive: true })
  const choices = createChoices(seed, 'losses')
  let lostAnswers = 0
  let isLosing = false

  const pass = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { method = '', url = '/', headers } = incoming
    const isChange = isLosing && (method === 'PUT' || method === 'DELETE')
    const fate = isChange
      ? choices.weighted({ passed: 70, 'not arrived': 10, broken: 10, 'timed out': 10 })
      : 'passed'
    const body = await buffer(incoming)
    if (fate === 'not arrived') return void response.destroy()
    const outgoing = request(new URL(url, target), { method, headers, agent })
    outgoing.end(body)
    const [answer] = (await once(outgoing, 'response')) as [IncomingMessage]
    const content = await buffer(answer)
    if (fate !== 'passed') lostAnswers++
    if (fate === 'broken') return void response.destroy()
    if (fate === 'timed out') return void response.writeHead(504).end('The server is too slow')
    response.writeHead(answer.statusCode ?? 500, answer.headers).end(content)
  }
  const server = createServer((incoming, response) => {
    pass(incoming, response).catch(() => response.destroy())
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    lose: () => void (isLosing = true),
    lostAnswers: () => lostAnswers,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      agent.destroy()
      await once(server.close(), 'close')
    },
  }
}
