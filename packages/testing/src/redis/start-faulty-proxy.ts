import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

/** `up`: from the client to the target; `down`: back. */
export type Direction = 'up' | 'down'

/** A TCP proxy on the loopback whose connections a test can disturb. */
export interface FaultyProxy {
  readonly port: number
  /** How many connections of clients it has now. */
  connections(): number
  /** How many it has had. */
  accepted(): number
  /** Delays what arrives from now on by `ms` milliseconds in each direction, in order. */
  delay(ms: number): void
  /** Resets all connections. New ones work. */
  cut(): void
  /** Forwards nothing more in one direction, or in both, of old and new connections, until `release`. Nothing is lost. */
  hold(direction?: Direction): void
  /** Forwards what was held. Ends `delay`, `hold` and `partition`. */
  release(): void
  /**
   * As a firewall that has forgotten its connections: those that there are never forward anything again, not even that they end. New
   * ones are held until `release`.
   */
  partition(): void
  /** Refuses new connections, and resets the others, until `open`. */
  shut(): Promise<void>
  open(): Promise<void>
  close(): Promise<void>
}

export interface FaultyProxyOptions {
  /** Changes the bytes of the target's answers. */
  readonly rewrite?: (chunk: Buffer) => Buffer
}

interface ProxiedConnection {
  readonly client: Socket
  readonly server: Socket
  isForgotten: boolean
}

/** Starts a proxy to a port of the loopback. */
export async function startFaultyProxy(
  target: { readonly port: number },
  { rewrite = (chunk) => chunk }: FaultyProxyOptions = {},
): Promise<FaultyProxy> {
  const all = new Set<ProxiedConnection>()
  const held = new Set<Direction>()
  let released = Promise.withResolvers<undefined>()
  let delayMs = 0
  let accepted = 0

  const forward = (connection: ProxiedConnection, direction: Direction) => {
    const { client, server } = connection
    const [from, to] = direction === 'up' ? [client, server] : [server, client]
    let queue = Promise.resolve()
    const inOrder = (ms: number, act: () => void) => {
      queue = Promise.all([queue, sleep(ms)]).then(async () => {
        while (held.has(direction)) await released.promise
        if (!connection.isForgotten) act()
      })
    }
    from.on('data', (chunk: Buffer) => {
      inOrder(delayMs, () => void to.write(direction === 'down' ? rewrite(chunk) : chunk))
    })
    from.once('end', () => inOrder(delayMs, () => void to.end()))
    from.once('close', () => inOrder(0, () => void to.destroy()))
    from.on('error', () => {})
  }
  const listener = createServer((client) => {
    accepted++
    const server = connect(target.port, '127.0.0.1')
    const connection = { client, server, isForgotten: false }
    all.add(connection)
    client.once('close', () => all.delete(connection))
    forward(connection, 'up')
    forward(connection, 'down')
  })
  const listen = async (port: number) => {
    listener.listen(port, '127.0.0.1')
    await once(listener, 'listening')
    return (listener.address() as AddressInfo).port
  }
  const cut = () => {
    for (const { client, server } of all) {
      reset(client)
      reset(server)
    }
  }
  const release = () => {
    delayMs = 0
    held.clear()
    released.resolve(undefined)
    released = Promise.withResolvers()
  }
  const shut = async () => {
    const closed = once(listener, 'close')
    listener.close()
    cut()
    await closed
  }

  const port = await listen(0)
  return {
    port,
    connections: () => all.size,
    accepted: () => accepted,
    delay: (ms) => void (delayMs = ms),
    cut,
    hold(direction) {
      for (const one of direction === undefined ? (['up', 'down'] as const) : [direction]) {
        held.add(one)
      }
    },
    release,
    partition() {
      for (const connection of all) connection.isForgotten = true
      held.add('up').add('down')
    },
    shut,
    async open() {
      await listen(port)
    },
    async close() {
      release()
      if (listener.listening) await shut()
    },
  }
}

/** Node.js 24 cannot reset a socket that is being shut down: its handle would stay open, and the process would never end. */
function reset(socket: Socket): void {
  if (socket.writableEnded) socket.destroy()
  else socket.resetAndDestroy()
}
