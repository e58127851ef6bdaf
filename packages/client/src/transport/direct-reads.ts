import type { Agent } from 'node:http'
import type { OnReadOpts, Socket } from 'node:net'
import { cachedChunk } from '../streams/chunk-sizes.ts'

/** Takes bytes that are valid during the call, at most `cachedChunk`, and returns whether it has room for as many again. */
export type Receiver = (bytes: Uint8Array) => boolean

/** By connection that reads into one buffer; `undefined` while the parser of HTTP gets what is read. */
const receivers = new WeakMap<Socket, Receiver | undefined>()

/** Bun and Deno go on reading when they are told that there is no room. */
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
export function canReadDirectly(socket: Socket): boolean {
  return receivers.has(socket)
}

/** Gives what `socket` reads from now on to `receiver`, and no more to the parser of HTTP: no other request can follow. */
export function readDirectly(socket: Socket, receiver: Receiver): void {
  receivers.set(socket, receiver)
}
