import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { Webhook } from 'standardwebhooks'

/** A secret as Standard Webhooks has it, of 32 bytes. */
export const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`

/** What arrives at a receiver, with the headers. */
export interface Arrival {
  readonly id: string
  readonly type: string
  readonly time: string
  readonly source: string
  readonly subject?: string
  readonly data: Readonly<Record<string, unknown>>
  readonly headers: IncomingHttpHeaders
}

/** How the receiver answers the arrival with this number, from 0. */
export type Behaviour = (response: ServerResponse, number: number, arrival: Arrival) => void

export const accept: Behaviour = (response) => void response.writeHead(204).end()

export const refuse =
  (status: number, headers = {}): Behaviour =>
  (response) =>
    void response.writeHead(status, headers).end('no')

/** Takes the event, and breaks the connection off without an answer. */
export const loseAnswer: Behaviour = (response) => void response.destroy()

/** Takes the event, and never answers. */
export const stall: Behaviour = () => {}

export interface Receiver {
  readonly url: string
  readonly port: number
  /** All that arrived, also what was refused. */
  readonly arrivals: readonly Arrival[]
  /** What was answered with 2xx. */
  readonly accepted: readonly Arrival[]
  behave(behaviour: Behaviour): void
  close(): Promise<void>
}

/** A receiver of events, which verifies every signature by `key`: an arrival with a wrong one is an error of the test. */
export async function startReceiver(
  behaviour: Behaviour = accept,
  { key = secret, port = 0 } = {},
): Promise<Receiver> {
  const webhook = new Webhook(key)
  const arrivals: Arrival[] = []
  const accepted: Arrival[] = []
  let current = behaviour
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      const { headers } = request
      const signed = Object.fromEntries(
        ['id', 'timestamp', 'signature'].map((name) => [
          `webhook-${name}`,
          String(headers[`webhook-${name}`]),
        ]),
      )
      const event = webhook.verify(body, signed) as Omit<Arrival, 'headers'>
      if (event.id !== headers['webhook-id']) throw new Error(`${event.id} has another header`)
      const arrival = { ...event, headers }
      arrivals.push(arrival)
      response.on('finish', () => {
        if (response.statusCode < 300) accepted.push(arrival)
      })
      current(response, arrivals.length - 1, arrival)
    })
  })
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  const bound = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${bound.port}/events`,
    port: bound.port,
    arrivals,
    accepted,
    behave(next) {
      current = next
    },
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
