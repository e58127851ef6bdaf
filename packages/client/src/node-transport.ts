import { once } from 'node:events'
import type * as Http from 'node:http'
import type { ClientRequest, IncomingMessage, Agent } from 'node:http'
import type * as Https from 'node:https'
import { createRequire } from 'node:module'
import type { OnReadOpts, Socket } from 'node:net'
import {
  largeChunk,
  smallChunk,
  shortLivedChunks,
  cachedChunk,
  type RequestBody,
  type Transport,
  type TransportRequest,
} from './shared/transport.ts'
import { HoldfastError, wrongLength } from './shared/holdfast-error.ts'

/** Sends by `node:http`: the global `fetch` of Node holds uploads in memory, and takes three times the processor time. */
export function createNodeTransport(): Transport {
  const senderOf = ({ Agent, request }: typeof http | ReturnType<typeof https>) => ({
    send: request,
    agent: withDirectReads(new Agent({ keepAlive: true })),
  })
  let plain: ReturnType<typeof senderOf> | undefined
  let secure: ReturnType<typeof senderOf> | undefined
  return async (request) => {
    const { method, url, headers, size, signal } = request
    signal.throwIfAborted()
    const { send, agent } =
      url.protocol === 'https:' ? (secure ??= senderOf(https())) : (plain ??= senderOf(http))
    const length = size === undefined ? {} : { 'Content-Length': String(size) }
    const sent = send(url, { method, headers: { ...headers, ...length }, agent, signal })
    // An abort after the last byte destroys a socket without listeners: its error would end the process.
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
  // Do not wait for a body that stands still.
  // A reason of its own spares the making of an error with a stack for each request.
  const stopSending = () => answered.abort('answered')
  try {
    const response = await answer
    // After half a body, a connection can carry nothing else.
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

/** Bytes per millisecond on a fast connection, measured from the beginning of the body: buffers on the way empty irregularly. */
const quickPace = (20 * 1024 ** 2) / 1000

/** The most bytes that the system's own buffers take at once, however slow the connection is. */
const systemBuffers = 16 * 1024 ** 2

/** Never rejects: an error of the body ends the request, which rejects with it. */
async function sendBody(
  sent: ClientRequest,
  request: TransportRequest,
  answered: AbortSignal,
): Promise<void> {
  // Connections may end while a body is sent; the answer, or its absence, shows what that means.
  sent.on('error', () => {})
  try {
    if (await sendChunks(sent, request, answered)) sent.end()
  } catch (error) {
    sent.destroy(
      error instanceof Error ? error : new Error('Reading the body failed', { cause: error }),
    )
  }
}

/** Resolves with whether all of the body was taken. */
async function sendChunks(
  sent: ClientRequest,
  { body, size: whole = Infinity, onSent }: TransportRequest,
  answered: AbortSignal,
): Promise<boolean> {
  const startedAt = performance.now()
  let bytes = 0
  let size = smallChunk
  for await (const given of bodyChunks(body)) {
    // What goes beyond the size would be the beginning of the connection's next request.
    if (bytes + given.byteLength > whole) throw wrongLength()
    for (let at = 0; at < given.byteLength;) {
      const chunk = given.subarray(at, at + size)
      // Ask for another chunk only after this one is taken: it may overwrite this one in memory.
      if (!(await isTaken(sent, chunk, answered))) return false
      at += chunk.byteLength
      bytes += chunk.byteLength
      const isQuick = bytes >= systemBuffers && bytes / (performance.now() - startedAt) > quickPace
      size = isQuick ? largeChunk : smallChunk
      onSent?.(bytes)
    }
  }
  if (bytes < whole && whole !== Infinity) throw wrongLength()
  return true
}

/** Hands the chunk to the system. Resolves with false if the answer came, or the connection ended, before the chunk was taken. */
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
  return body instanceof Blob ? blobChunks(body) : shortLivedChunks(body)
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

// Node's own modules need no particular path, and this one exists in every bundle, too.
const require = createRequire(process.execPath)

/*
 * If an ES module imports `node:http`, Node reads all its exports at once, and some are getters that load what `fetch` is made of: as much
 * work as Node's own start. `require` reads none.
 */
const http = require('node:http') as typeof Http

/** Loaded when needed: connections without TLS do not need it. */
const https = () => require('node:https') as typeof Https

/** For a smaller body a direct read is not worth the connection, which cannot be used again. */
const leastSize = 4 * 1024 ** 2

/** Bytes that suit writers of files. */
const chunkSize = 512 * 1024

/**
 * The body of a response. A large one of known size is read from the socket directly: the HTTP parser would copy each read into new
 * memory. The next chunk arrives while the reader works with the current one.
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
  // A response to HEAD has no body, and a broken connection reports its error.
  if (response.complete || response.destroyed) return yield* response
  try {
    // These bytes came with the head, so the parser has them already.
    const first = response.read() as Buffer | null
    const arriving = receive(response, size - (first?.length ?? 0))
    if (first) yield first
    for await (const chunk of arriving) yield reuseMemory ? chunk : new Uint8Array(chunk)
  } finally {
    // The parser still waits for the body, so the connection cannot be used again.
    response.destroy()
  }
}

/** Starts at once to receive the next `size` bytes. Each chunk is valid until the next one is asked for. */
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

/** Takes at most `cachedChunk` bytes, which are valid during the call; returns whether it has room for as many again. */
type Receiver = (bytes: Uint8Array) => boolean

/** The receivers of connections that read into one buffer; `undefined` while the HTTP parser gets the bytes. */
const receivers = new WeakMap<Socket, Receiver | undefined>()

/** Bun and Deno continue to read when a write reports that there is no room. */
const isNode = !('Bun' in globalThis || 'Deno' in globalThis)

/**
 * Makes each connection of `agent` read into one buffer, as {@link readDirectly} needs. Otherwise Node allocates new memory for each read.
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
      // The HTTP parser may keep the bytes, so copy them.
      return socket.emit('data', Buffer.from(bytes))
    }
    return socket
  }
  return agent
}

/** Whether `socket` is from such an agent. */
function canReadDirectly(socket: Socket): boolean {
  return receivers.has(socket)
}

/** Passes what `socket` reads from now on to `receiver`, and not to the HTTP parser any more: the connection cannot be used again. */
function readDirectly(socket: Socket, receiver: Receiver): void {
  receivers.set(socket, receiver)
}

/** Collects bytes while the reader uses the previous chunk. */
interface DoubleBuffer {
  /** Copies bytes of at most one step, and returns whether another step has room. */
  add(bytes: Uint8Array): boolean
  /** The bytes added since the last call; `undefined` if there are none. They are valid until the next call that returns a chunk. */
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

/** Decides when bytes may move. */
export interface Throttle {
  /** Bytes; larger chunks are moved in pieces. */
  readonly largestChunk: number
  /** Resolves when so many more bytes may be sent, or have been received. Rejects with the signal's reason. */
  wait(bytes: number, signal: AbortSignal): Promise<void>
}

/** A transport for Node whose contents, up and down, move as `throttle` allows. Requests that share it share the throttle. */
export function createThrottledTransport(throttle: Throttle): Transport {
  const send = createNodeTransport()
  return async (request) => {
    const { body, signal } = request
    const response = await send({
      ...request,
      ...(body !== undefined && { body: throttled(chunksIn(body), throttle, signal) }),
    })
    return { ...response, body: throttled(response.body, throttle, signal) }
  }
}

function chunksIn(body: RequestBody): Iterable<Uint8Array> | AsyncIterable<Uint8Array> {
  if (body instanceof Uint8Array) return [body]
  return body instanceof Blob ? body.stream() : shortLivedChunks(body)
}

async function* throttled(
  chunks: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
  throttle: Throttle,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array, void> {
  const { largestChunk } = throttle
  for await (const chunk of chunks) {
    for (let at = 0; at < chunk.length; at += largestChunk) {
      const part = chunk.subarray(at, at + largestChunk)
      await throttle.wait(part.length, signal)
      yield part
    }
  }
}
