import type * as Http from 'node:http'
import type * as Https from 'node:https'
import { once } from 'node:events'
import type { ClientRequest, IncomingMessage, Agent } from 'node:http'
import { createRequire } from 'node:module'
import type { OnReadOpts, Socket } from 'node:net'
import { HoldfastError } from '../shared/holdfast-error.ts'
import { largeChunk, smallChunk, passingChunks, cachedChunk } from '../shared/chunks.ts'
import type { RequestBody, Transport, TransportRequest } from './transport.ts'

/**
 * Sends by `node:http`: the global `fetch` of Node holds what it uploads in memory, and takes three times the processor's time.
 */
export function createNodeTransport(): Transport {
  const way = ({ Agent, request }: typeof http | ReturnType<typeof https>) => ({
    send: request,
    agent: withDirectReads(new Agent({ keepAlive: true })),
  })
  let plain: ReturnType<typeof way> | undefined
  let secure: ReturnType<typeof way> | undefined
  return async (request) => {
    const { method, url, headers, size, signal } = request
    signal.throwIfAborted()
    const { send, agent } =
      url.protocol === 'https:' ? (secure ??= way(https())) : (plain ??= way(http))
    const length = size === undefined ? {} : { 'Content-Length': String(size) }
    const sent = send(url, { method, headers: { ...headers, ...length }, agent, signal })
    // An abort after the last byte destroys a socket on which no one listens any more: its error would end the process.
    sent.once('socket', (socket) => {
      if (!socket.listeners('error').includes(ignore)) socket.on('error', ignore)
    })
    const response = await exchange(sent, request)
    return {
      status: response.statusCode ?? 0,
      header: (name) => valueOf(response.headers[name]),
      body: bodyOf(response, request.reuseMemory === true),
    }
  }
}

const ignore = () => {}

async function exchange(sent: ClientRequest, request: TransportRequest): Promise<IncomingMessage> {
  const answered = new AbortController()
  const answer = once(sent, 'response').then(([response]) => response as IncomingMessage)
  void sendBody(sent, request, answered.signal)
  // A body that stands still is not waited for.
  const stopSending = () => answered.abort()
  try {
    const response = await answer
    // A connection on which half a body was sent carries nothing else.
    response.once('close', () => {
      stopSending()
      if (!sent.writableEnded) sent.destroy()
    })
    if (!(request.isAnsweredMeanwhile && response.statusCode === 200)) stopSending()
    return response
  } catch (error) {
    stopSending()
    request.signal.throwIfAborted()
    throw error
  }
}

/** Bytes a millisecond of a quick line, from the beginning of the body on: buffers on the way empty by fits and starts. */
const quickPace = (20 * 1024 ** 2) / 1000

/** The system's own buffers take no more than this at once, however slow the line is. */
const systemBuffers = 16 * 1024 ** 2

/** Never rejects: an error of the body ends the request, which rejects with it. */
async function sendBody(
  sent: ClientRequest,
  request: TransportRequest,
  answered: AbortSignal,
): Promise<void> {
  // Connections end while a body is sent; the answer, or its lack, says what that means.
  sent.on('error', () => {})
  try {
    if (await sendChunks(sent, request, answered)) sent.end()
  } catch (error) {
    sent.destroy(error instanceof Error ? error : new Error('The body failed', { cause: error }))
  }
}

/** Resolves with whether all of the body was taken. */
async function sendChunks(
  sent: ClientRequest,
  { body, onSent }: TransportRequest,
  answered: AbortSignal,
): Promise<boolean> {
  const startedAt = performance.now()
  let bytes = 0
  let size = smallChunk
  for await (const given of bodyChunks(body)) {
    for (let at = 0; at < given.byteLength;) {
      const chunk = given.subarray(at, at + size)
      // Who does not wait until the chunk is taken must not ask for another one, which may take its place in memory.
      if (!(await isTaken(sent, chunk, answered))) return false
      at += chunk.byteLength
      bytes += chunk.byteLength
      const isQuick = bytes >= systemBuffers && bytes / (performance.now() - startedAt) > quickPace
      size = isQuick ? largeChunk : smallChunk
      onSent?.(bytes)
    }
  }
  return true
}

/** Hands the chunk to the system. Resolves with whether it was taken before the answer came, or the connection ended. */
async function isTaken(
  sent: ClientRequest,
  chunk: Uint8Array,
  answered: AbortSignal,
): Promise<boolean> {
  if (answered.aborted || sent.destroyed) return false
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const stop = () => resolve(false)
  sent.once('close', stop)
  answered.addEventListener('abort', stop)
  sent.write(chunk, (error) => resolve(!error))
  try {
    return await promise
  } finally {
    sent.off('close', stop)
    answered.removeEventListener('abort', stop)
  }
}

function bodyChunks(
  body: RequestBody | undefined,
): Iterable<Uint8Array> | AsyncIterable<Uint8Array> {
  if (body === undefined) return []
  if (body instanceof Uint8Array) return [body]
  return body instanceof Blob ? blobChunks(body) : passingChunks(body)
}

async function* blobChunks(blob: Blob): AsyncGenerator<Uint8Array, void> {
  try {
    yield* blob.stream()
  } catch (error) {
    throw new HoldfastError('changed-meanwhile', 'The Blob cannot be read', { cause: error })
  }
}

function valueOf(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header.join(', ') : header
}

// Any path will do for modules of Node's own, and this one is there in every bundle, too.
const require = createRequire(process.execPath)

/*
 * An ES module that imports `node:http` has Node read all of its names at once, and some are getters that load what `fetch` is made
 * of: as much work as Node's own start. `require` reads none.
 */
const http = require('node:http') as typeof Http

/** Loaded when it is asked for: a connection without TLS does without. */
const https = () => require('node:https') as typeof Https

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
function bodyOf(response: IncomingMessage, reuseMemory: boolean): AsyncIterable<Uint8Array> {
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
function withDirectReads<T extends Agent>(agent: T): T {
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
