import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'

/** What a bad line does with a connection. */
export type Fate =
  /** Both ends are reset when so many bytes have come from the client. */
  | { readonly cutAfter: number }
  /** Both ends are reset when so many bytes have come from the server. */
  | { readonly cutAnswerAfter: number }
  /** The request reaches the server; the client is reset instead of getting the answer. */
  | 'unanswered'
  /** Nothing is passed on in either direction. */
  | 'silent'

export interface BadLine extends AsyncDisposable {
  readonly port: number
  /** How many connections there have been. */
  connections(): number
}

/**
 * Forwards connections to `port` on this machine. The first connections get these fates, in their order; later ones work normally.
 *
 * @param ownPort the port to listen on; by default a free one
 */
export async function startBadLine(
  port: number,
  fates: readonly Fate[],
  ownPort = 0,
): Promise<BadLine> {
  const left = [...fates]
  let connections = 0
  const sockets = new Set<Socket>()
  const keep = (socket: Socket) => {
    sockets.add(socket)
    // Connections are meant to break here, so their errors are ignored.
    return socket.on('error', () => {}).on('close', () => sockets.delete(socket))
  }
  const server = createServer((client) => {
    const fate = left.shift()
    connections++
    keep(client)
    if (fate === 'silent') return void client.resume()
    const upstream = keep(connect({ port, host: '127.0.0.1' }))
    const cut = () => {
      client.resetAndDestroy()
      upstream.resetAndDestroy()
    }
    client.on('close', () => upstream.destroy())
    upstream.on('close', () => client.destroy())
    client.pipe(upstream)
    if (fate === 'unanswered') upstream.once('data', cut)
    else if (typeof fate === 'object' && 'cutAnswerAfter' in fate) {
      passStart(upstream, client, fate.cutAnswerAfter, cut)
    } else upstream.pipe(client)
    if (typeof fate === 'object' && 'cutAfter' in fate) afterBytes(client, fate.cutAfter, cut)
  })
  await once(server.listen(ownPort, '127.0.0.1'), 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    connections: () => connections,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      await once(server.close(), 'close')
    },
  }
}

function passStart(from: Socket, to: Socket, limit: number, then: () => void): void {
  let left = limit
  from.on('data', (chunk: Buffer) => {
    const part = chunk.subarray(0, left)
    left -= part.length
    to.write(part, left === 0 ? then : undefined)
  })
}

function afterBytes(socket: Socket, limit: number, then: () => void): void {
  let size = 0
  socket.on('data', (chunk: Buffer) => {
    size += chunk.length
    if (size >= limit) then()
  })
}
