import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { until } from '@holdfast/testing'

/** A proxy between a browser and a server: the line, which can break. */
export interface Line extends AsyncDisposable {
  /** The address of the page over this line, which stays the same whatever server it leads to. */
  readonly url: string
  /** Leads to this port from now on. */
  lead(port: number): void
  /** Ends all connections, those that stand still, too, and every new one at once, until `mend`. */
  cut(): void
  mend(): void
  /** Lets no more than so many bytes of the browser pass on one connection, until `cut`. */
  holdAfter(bytes: number): void
  /** Waits until a connection stands still. */
  held(): Promise<void>
  /** How many bytes of the browser have passed. */
  readonly passed: () => number
}

/** Starts one on 127.0.0.1. */
export async function startLine(): Promise<Line> {
  const clients = new Set<Socket>()
  let target = 0
  let isCut = false
  let passed = 0
  let limit = Infinity
  let standing = 0
  let released = Promise.withResolvers<undefined>()

  // Ends of connections are what this is about.
  const bear = (socket: Socket) => socket.on('error', () => {})
  const forward = async (client: Socket, server: Socket) => {
    let passedHere = 0
    for await (const chunk of client as AsyncIterable<Buffer>) {
      if (passedHere >= limit) {
        standing += 1
        await released.promise
        standing -= 1
      }
      passedHere += chunk.length
      if (server.destroyed) return
      passed += chunk.length
      if (!server.write(chunk)) await once(server, 'drain')
    }
    server.end()
  }
  const proxy = createServer((client) => {
    bear(client)
    if (isCut) return void client.resetAndDestroy()
    clients.add(client)
    const server = bear(connect({ port: target, host: '127.0.0.1' }))
    // What has passed arrives, also where the browser goes first.
    client.on('close', () => clients.delete(client) && server.destroySoon())
    server.on('close', () => client.destroy()).pipe(client)
    // Either end may go at any time.
    forward(client, server).catch(() => {})
  })
  await once(proxy.listen(0, '127.0.0.1'), 'listening')
  const cut = () => {
    isCut = true
    limit = Infinity
    released.resolve(undefined)
    released = Promise.withResolvers()
    // Only the browser's end is reset, after which the other one closes.
    for (const socket of clients) socket.resetAndDestroy()
  }
  return {
    url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}/`,
    lead: (port) => void (target = port),
    cut,
    mend: () => void (isCut = false),
    holdAfter: (bytes) => void (limit = bytes),
    held: () => until('the line stands still', () => standing > 0),
    passed: () => passed,
    async [Symbol.asyncDispose]() {
      cut()
      await once(proxy.close(), 'close')
    },
  }
}
