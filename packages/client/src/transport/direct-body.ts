import type { IncomingMessage, Agent } from 'node:http'
import { cachedChunk } from '../shared/chunks.ts'
import type { OnReadOpts, Socket } from 'node:net'

/** A smaller body is not worth its connection, which is not used again. */
const leastSize = 4 * 1024 ** 2

/** Writers of files like to write so much at a time. */
const chunkSize = 512 * 1024

/**
 * The body of a response. A large one of known size is taken from the socket without the parser of HTTP, which copies each read into new
 * memory. The next chunk is received while the reader works with the one before.
 *
 * @param reuseMemory whether a chunk may be valid only until the next one is asked for
 */
export function bodyOf(response: IncomingMessage, reuseMemory: boolean): AsyncIterable<Uint8Array> {
  const size = Number(response.headers['content-length'])
  const isDirect = size >= leastSize && canReadDirectly(response.socket)
  return isDirect ? directBody(response, size, reuseMemory) : response
}

async function* directBody(
  response: IncomingMessage,
  size: number,
  reuseMemory: boolean,
): AsyncGenerator<Uint8Array, void> {
  // To a HEAD none follows; and a connection that has broken gives its error.
  if (response.complete || response.destroyed) return yield* response
  try {
    // It came with the head, so the parser has it already.
    const first = response.read() as Buffer | null
    const arriving = receive(response, size - (first?.length ?? 0))
    if (first) yield first
    for await (const chunk of arriving) yield reuseMemory ? chunk : new Uint8Array(chunk)
  } finally {
    // The parser waits for the body, so no other request can follow.
    response.destroy()
  }
}

/** Begins at once to receive the next `size` bytes. Each chunk is valid until the next one is asked for. */
function receive(response: IncomingMessage, size: number): AsyncGenerator<Uint8Array, void> {
  const { socket } = response
  const buffer = createDoubleBuffer(chunkSize, cachedChunk)
  let left = size
  let failure: Error | undefined
  let notify = () => {}
  const fail = (error = new Error('The connection broke')) => {
    failure ??= error
    notify()
  }
  readDirectly(socket, (bytes) => {
    const own = bytes.subarray(0, left)
    left -= own.length
    const hasRoom = buffer.add(own)
    notify()
    return hasRoom && left > 0
  })
  response.once('error', fail).once('close', fail)
  socket.resume()
  return chunks()

  async function* chunks() {
    while (true) {
      const chunk = buffer.take()
      if (chunk) {
        socket.resume()
        yield chunk
      } else if (left === 0) return
      else if (failure) throw failure
      else await new Promise<void>((resolve) => (notify = resolve))
    }
  }
}

/** Takes bytes that are valid during the call, at most `cachedChunk`, and returns whether it has room for as many again. */
type Receiver = (bytes: Uint8Array) => boolean

/** By connection that reads into one buffer; `undefined` while the parser of HTTP gets what is read. */
const receivers = new WeakMap<Socket, Receiver | undefined>()

/** Bun and Deno go on reading when a write reports that there is no room. */
const isNode = !('Bun' in globalThis || 'Deno' in globalThis)

/**
 * Has each connection of `agent` read into one buffer, so that {@link readDirectly} works. Otherwise Node makes new memory for each read.
 * In Bun and Deno nothing changes.
 */
export function withDirectReads<T extends Agent>(agent: T): T {
  if (!isNode) return agent
  const connect = agent.createConnection.bind(agent)
  agent.createConnection = (options, callback) => {
    const onread: OnReadOpts = {
      buffer: Buffer.allocUnsafeSlow(cachedChunk),
      callback: (length, bytes) => receive(bytes.subarray(0, length)),
    }
    const direct = { ...options, onread }
    const socket = connect(direct, callback) as Socket
    receivers.set(socket, undefined)
    const receive = (bytes: Uint8Array) => {
      const receiver = receivers.get(socket)
      if (receiver) return receiver(bytes)
      // For the parser of HTTP, which may keep it.
      return socket.emit('data', Buffer.from(bytes))
    }
    return socket
  }
  return agent
}

/** Whether `socket` is of such an agent. */
function canReadDirectly(socket: Socket): boolean {
  return receivers.has(socket)
}

/** Gives what `socket` reads from now on to `receiver`, and no more to the parser of HTTP: no other request can follow. */
function readDirectly(socket: Socket, receiver: Receiver): void {
  receivers.set(socket, receiver)
}

/** Gathers bytes while the reader has the chunk before. */
interface DoubleBuffer {
  /** Copies bytes of at most one step, and returns whether another step has room. */
  add(bytes: Uint8Array): boolean
  /** What was added since the call before; `undefined` if that is nothing. It is valid until the next call that returns a chunk. */
  take(): Uint8Array | undefined
}

/** @param size of each of the two buffers */
export function createDoubleBuffer(size: number, step: number): DoubleBuffer {
  let filling = new Uint8Array(size)
  let other = new Uint8Array(size)
  let used = 0
  return {
    add(bytes) {
      filling.set(bytes, used)
      used += bytes.length
      return used + step <= size
    },
    take() {
      if (used === 0) return undefined
      const chunk = filling.subarray(0, used)
      ;[filling, other] = [other, filling]
      used = 0
      return chunk
    },
  }
}
