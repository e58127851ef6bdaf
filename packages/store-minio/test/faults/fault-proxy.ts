import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'

/** What happens to the connection: it ends (FIN), is reset (RST), or stays and carries nothing more. */
export type FaultKind = 'cut' | 'reset' | 'stall'

/** On the way to the server, or back. An answer whose first byte is missing belongs to a request that was carried out. */
export type Direction = 'request' | 'answer'

/** The byte that does not arrive: the first, one in the middle of the head, one in the middle of the body, the last. */
export type Position = 'first byte' | 'head' | 'body' | 'last byte'

export interface Fault {
  readonly kind: FaultKind
  readonly direction: Direction
  readonly position: Position
  /** Which requests meet it, by their first line, as in `PUT /bucket/key?x-id=PutObject HTTP/1.1`. Default: all. */
  readonly request?: RegExp
  /** How many of these requests. Default: all. */
  readonly times?: number
}

/** A way to a server that can be broken. */
export interface FaultProxy {
  readonly endpoint: string
  /** From now on requests meet this fault, in place of an earlier one; once it has had its times, `next`. */
  inject(fault: Fault, next?: Fault): void
  /** Ends the fault, and the connections that it has stalled. */
  heal(): void
  /** How many requests have met a fault. */
  readonly strikes: () => number
  /** Resolves when the proxy listens no more. */
  close(): Promise<void>
}

/** Starts a TCP proxy on 127.0.0.1 in front of `target`, which passes everything on until `inject` is called. */
export async function startFaultProxy(target: string): Promise<FaultProxy> {
  const { hostname, port } = new URL(target)
  const connections = new Set<Connection>()
  let [fault, following]: (Fault | undefined)[] = []
  let [met, strikes] = [0, 0]

  const choose = (requestLine: string) => {
    if (!fault || fault.request?.test(requestLine) === false) return undefined
    return met++ < (fault.times ?? Infinity) ? fault : following
  }
  const server = createServer((client) => {
    const upstream = connect({ host: hostname, port: Number(port) })
    const connection = join(client, upstream, choose, () => strikes++)
    connections.add(connection)
    client.once('close', () => connections.delete(connection))
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')

  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    inject: (next, afterwards) => {
      fault = next
      following = afterwards
      met = 0
    },
    heal: () => {
      fault = undefined
      for (const connection of connections) if (connection.isStruck()) connection.destroy()
    },
    strikes: () => strikes,
    close: async () => {
      for (const connection of connections) connection.destroy()
      if (server.listening) await once(server.close(), 'close')
    },
  }
}

interface Connection {
  readonly isStruck: () => boolean
  destroy(): void
}

/** Carries bytes between two sockets, one request and its answer after the other, until one of them is to be struck. */
function join(
  client: Socket,
  upstream: Socket,
  choose: (requestLine: string) => Fault | undefined,
  onStrike: () => void,
): Connection {
  let fault: Fault | undefined
  let isHead = false
  // Of the message that is passing: how many bytes may still pass, and whether its first ones have.
  const left = { request: Infinity, answer: Infinity }
  let isAnswered = true
  let isStruck = false

  const allowed = (direction: Direction, chunk: Buffer): number => {
    const line = /^[A-Z]+ \/\S* HTTP\/1\.1(?=\r\n)/.exec(chunk.toString('latin1', 0, 4096))?.[0]
    if (direction === 'request' && line !== undefined && isAnswered) {
      fault = choose(line)
      isHead = line.startsWith('HEAD ')
      isAnswered = false
      left.request =
        fault?.direction === 'request' ? offsetOf(fault.position, chunk, false) : Infinity
    } else if (direction === 'answer' && !isAnswered) {
      const interim = interimSize(chunk)
      if (interim === chunk.length) return interim
      isAnswered = true
      const final = chunk.subarray(interim)
      left.answer =
        fault?.direction === 'answer' ? interim + offsetOf(fault.position, final, isHead) : Infinity
    }
    const passing = Math.min(left[direction], chunk.length)
    left[direction] -= passing
    return passing
  }

  const pass = (direction: Direction, from: Socket, to: Socket) => {
    from.on('data', (chunk: Buffer) => {
      if (isStruck) return
      const passing = allowed(direction, chunk)
      const hasRoom = to.write(chunk.subarray(0, passing))
      if (passing < chunk.length) return strike(fault?.kind ?? 'reset')
      if (hasRoom) return
      from.pause()
      to.once('drain', () => isStruck || from.resume())
    })
    from.on('end', () => to.end())
    from.on('error', () => to.destroy())
    from.on('close', () => to.destroy())
  }

  const strike = (kind: FaultKind) => {
    isStruck = true
    onStrike()
    for (const socket of [client, upstream]) {
      if (kind === 'reset') socket.resetAndDestroy()
      // What still comes is read and dropped, also where one side was waiting for the other: a socket closed over unread
      // bytes would reset, and a server that cannot send keeps its lock of the object until it gives up, 30 s later.
      else if (kind === 'cut') socket.end().resume()
      else socket.pause()
    }
  }

  pass('request', client, upstream)
  pass('answer', upstream, client)
  const destroy = () => [client, upstream].forEach((socket) => socket.destroy())
  return { isStruck: () => isStruck, destroy }
}

/** How many bytes at the start of `chunk` are an interim response such as `100 Continue` (RFC 9110 §15.2). */
function interimSize(chunk: Buffer): number {
  const isInterim = chunk.toString('latin1', 0, 10).startsWith('HTTP/1.1 1')
  return isInterim ? chunk.indexOf('\r\n\r\n') + 4 : 0
}

/** Which byte of the message that begins with `chunk` is at `position`. */
function offsetOf(position: Position, chunk: Buffer, isHeadersOnly: boolean): number {
  const headSize = chunk.indexOf('\r\n\r\n') + 4
  if (headSize < 4) throw new Error('The head of a message comes in pieces')
  const head = chunk.toString('latin1', 0, headSize)
  const stated = Number(/^content-length: *(\d+)/im.exec(head)?.[1] ?? 0)
  const bodySize = isHeadersOnly ? 0 : stated
  if (position === 'first byte') return 0
  if (position === 'head') return Math.floor(headSize / 2)
  if (position === 'last byte') return headSize + bodySize - 1
  return headSize + Math.floor(bodySize / 2)
}
