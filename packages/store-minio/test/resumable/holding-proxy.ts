import { once } from 'node:events'
import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'

/** A request that waits on its way. */
export interface Held {
  /** Resolves when the request has come. */
  readonly reached: Promise<unknown>
  /** Lets it go on. */
  readonly release: () => void
}

/** A way to a server on which single requests wait, as those of a machine that stands still do. */
export interface HoldingProxy extends AsyncDisposable {
  readonly endpoint: string
  /** Cuts all connections that are there; those that wait, too. */
  cut(): void
  /** Holds the next request that `pattern` finds by its method and URL, before the server gets it. */
  hold(pattern: RegExp): Held
  /** Cuts the connection of the next such request, and carries it out when the result is called; resolves to the status. */
  delay(pattern: RegExp): () => Promise<number | undefined>
}

interface Waiting {
  readonly pattern: RegExp
  /** Whether its client is not there any more. */
  readonly isLate: boolean
  meet(sending: () => Promise<IncomingMessage>): Promise<unknown>
}

/** Starts one on 127.0.0.1. */
export async function startHoldingProxy(target: string): Promise<HoldingProxy> {
  const waiting: Waiting[] = []
  const pass = async (incoming: IncomingMessage, response: ServerResponse) => {
    const { method = '', url = '', headers } = incoming
    const at = waiting.findIndex(({ pattern }) => pattern.test(`${method} ${url}`))
    const [found] = at < 0 ? [] : waiting.splice(at, 1)
    const body = await buffer(incoming)
    const send = async () => {
      const outgoing = request(new URL(url, target), { method, headers })
      outgoing.end(body)
      const [answer] = (await once(outgoing, 'response')) as [IncomingMessage]
      return answer
    }
    if (found?.isLate === true) {
      response.destroy()
      await found.meet(send)
      return
    }
    await found?.meet(send)
    const answer = await send()
    response.writeHead(answer.statusCode ?? 500, answer.headers)
    answer.pipe(response)
  }
  const server = createServer((incoming, response) => {
    // A connection that is cut ends what it has asked for.
    pass(incoming, response).catch(() => response.destroy())
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    hold(pattern) {
      const reached = Promise.withResolvers<undefined>()
      const released = Promise.withResolvers<undefined>()
      const meet = () => {
        reached.resolve(undefined)
        return released.promise
      }
      waiting.push({ pattern, isLate: false, meet })
      return { reached: reached.promise, release: () => released.resolve(undefined) }
    },
    delay(pattern) {
      const met = Promise.withResolvers<() => Promise<IncomingMessage>>()
      waiting.push({ pattern, isLate: true, meet: async (sending) => met.resolve(sending) })
      return async () => {
        const answer = await (await met.promise)()
        answer.resume()
        return answer.statusCode
      }
    },
    cut: () => server.closeAllConnections(),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await once(server.close(), 'close')
    },
  }
}
