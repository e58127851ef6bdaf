import type * as Http from 'node:http'
import type * as Https from 'node:https'
import { once } from 'node:events'
import type { ClientRequest, IncomingMessage } from 'node:http'
import { HoldfastError } from '../shared/holdfast-error.ts'
import { bodyOf, withDirectReads } from './direct-body.ts'
import { largeChunk, smallChunk, passingChunks } from '../shared/chunks.ts'
import type { RequestBody, Transport, TransportRequest } from './transport.ts'
import { createRequire } from 'node:module'

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
