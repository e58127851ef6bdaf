import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { createChoices, type Choices } from '../soak/choices.ts'

/** A proxy on 127.0.0.1 that does to connections what bad lines and proxies do. */
export interface BrokenLine {
  readonly port: number
  /** Leads new connections to this port from now on. */
  lead(port: number): void
  /** How many connections had which fate. */
  readonly fates: Readonly<Record<Fate, number>>
  /** The statuses of the requests that the line itself has sent, which the client does not see. */
  readonly duplicates: readonly number[]
  [Symbol.asyncDispose](): Promise<void>
}

/** One connection carries one request. */
type Fate = keyof typeof weights

const weights = {
  /** Nothing happens. */
  passed: 45,
  /** Both ends are reset in the middle of the request. */
  cut: 12,
  /** The client is reset in the middle of the request; for the server, the request stands still. */
  stalled: 12,
  /** The client is reset instead of getting the answer. */
  unanswered: 10,
  /** The bytes of the request go to the server twice, at the same time. */
  doubled: 10,
  /** The request is sent once more after it was answered. */
  repeated: 11,
}

/** Bytes of a request that the line can repeat. */
const mostRepeated = 8 * 1024 ** 2

/** Starts one. What becomes of the connections follows from `seed`. */
export async function startBrokenLine(seed: number): Promise<BrokenLine> {
  const choices = createChoices(seed, 'broken line')
  const fates = { passed: 0, cut: 0, stalled: 0, unanswered: 0, doubled: 0, repeated: 0 }
  const duplicates: number[] = []
  const sockets = new Set<Socket>()
  let target = 0

  const open = () => keep(connect({ port: target, host: '127.0.0.1' }))
  const keep = (socket: Socket) => {
    sockets.add(socket)
    // Ends of connections are what this is about.
    socket.on('error', () => {}).on('close', () => sockets.delete(socket))
    return socket
  }
  /** Sends a request that nobody waits for. */
  const openDuplicate = () =>
    open().once('data', (chunk: Buffer) => {
      const status = /^HTTP\/1\.1 (\d{3}) /.exec(chunk.toString('latin1', 0, 13))?.[1]
      duplicates.push(Number(status))
    })

  const server = createServer((client) => {
    const fate = choices.weighted(weights)
    const limit = placeOf(choices)
    fates[fate]++
    keep(client)
    const upstream = open()
    upstream.on('close', () => client.destroy())
    if (fate !== 'stalled') client.on('close', () => upstream.destroy())
    client.pipe(upstream, { end: fate !== 'stalled' })
    if (fate === 'unanswered') upstream.once('data', () => client.resetAndDestroy())
    else upstream.pipe(client)
    if (fate === 'cut' || fate === 'stalled') {
      afterBytes(client, limit, () => {
        client.resetAndDestroy()
        if (fate === 'cut') upstream.resetAndDestroy()
      })
    }
    if (fate === 'doubled') feed(client, openDuplicate().resume())
    if (fate === 'repeated') {
      const request = collect(client)
      upstream.once('data', () => {
        const bytes = request()
        if (bytes) openDuplicate().resume().end(bytes)
      })
    }
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    lead: (port) => void (target = port),
    fates,
    duplicates,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      await once(server.close(), 'close')
    },
  }
}

/** Passes on what comes, and does not wait: a duplicate that no one reads must not hold up the request itself. */
function feed(from: Socket, to: Socket): void {
  from.on('data', (chunk: Buffer) => to.write(chunk)).on('end', () => to.end())
}

/** From 16 bytes to 32 MiB, each order of magnitude as often. */
function placeOf(choices: Choices): number {
  return choices.between(1, 16) * 2 ** choices.below(22)
}

function afterBytes(socket: Socket, limit: number, then: () => void): void {
  let size = 0
  socket.on('data', (chunk: Buffer) => {
    size += chunk.length
    if (size >= limit) then()
  })
}

/** The bytes that have come so far; `undefined` if they are too many. */
function collect(socket: Socket): () => Buffer | undefined {
  const chunks: Buffer[] = []
  let size = 0
  socket.on('data', (chunk: Buffer) => {
    size += chunk.length
    if (size <= mostRepeated) chunks.push(chunk)
    else chunks.length = 0
  })
  return () => (size <= mostRepeated ? Buffer.concat(chunks) : undefined)
}
