import * as http from 'node:http'
import * as https from 'node:https'
import type { Socket } from 'node:net'
import { S3Client, type S3ClientConfig } from '@aws-sdk/client-s3'
import type { HttpHandlerOptions, HttpRequest, HttpResponse } from '@smithy/types'
import {
  escapeUri,
  createGetClient,
  type GetClient,
  type ServerAccess,
  type Timeouts,
} from './get-client.ts'
import { createRetryStrategy, markUnsent } from './s3-errors.ts'

export interface StoreClient {
  /** Retries by `createRetryStrategy`. */
  readonly s3: S3Client
  /** For requests that create or remove an object: does not repeat those that the server may have carried out. */
  readonly changing: S3Client
  /** For GETs of objects: fast, without retries. */
  readonly gets: GetClient
  /** The number of connections that carry a request, or an answer that has not been read completely. */
  readonly busyConnections: () => number
  readonly close: () => void
}

/** Creates a client for one server. It reads neither the environment nor the files of the AWS tools. */
export function createStoreClient(access: ServerAccess): StoreClient {
  const { endpoint, region, accessKey, secretKey, sessionToken } = access
  const handler = createHttpHandler(access)
  const gets = createGetClient(access)
  const config: S3ClientConfig = {
    endpoint,
    region,
    credentials: {
      accessKeyId: accessKey,
      secretAccessKey: secretKey,
      ...(sessionToken !== undefined && { sessionToken }),
    },
    requestHandler: handler,
    // `http://host/bucket/key`; `http://bucket.host/key` would need a DNS name for each bucket.
    forcePathStyle: true,
    // Each upload computes the checksums of its parts itself; those of the client are slower.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    expectContinueHeader: false,
    defaultsMode: 'standard',
    useDualstackEndpoint: false,
    useFipsEndpoint: false,
    useArnRegion: false,
    disableMultiregionAccessPoints: true,
    disableS3ExpressSessionAuth: true,
    followRegionRedirects: false,
    userAgentAppId: async () => 'holdfast',
  }
  const s3 = new S3Client({ ...config, retryStrategy: createRetryStrategy() })
  const careful = createRetryStrategy(Math.random, { repeatsDoubtful: false })
  const changing = new S3Client({ ...config, retryStrategy: careful })
  ;[s3, changing].forEach(leavePayloadUnsigned)
  return {
    s3,
    changing,
    gets,
    busyConnections: () => handler.busyConnections() + gets.busyConnections(),
    close: () => {
      s3.destroy()
      gets.close()
    },
  }
}

/**
 * Omits the SHA-256 of the content, which the client computes on plain HTTP and not on HTTPS. The CRC-32 in a signed header
 * protects the content (decision 009).
 */
function leavePayloadUnsigned(s3: S3Client): void {
  s3.middlewareStack.add(
    (next) => async (args) => {
      const request = args.request as { headers?: Record<string, string>; body?: unknown }
      if (request.headers && request.body instanceof Uint8Array) {
        request.headers['x-amz-content-sha256'] = 'UNSIGNED-PAYLOAD'
      }
      return next(args)
    },
    { step: 'build', name: 'leavePayloadUnsigned' },
  )
}

/** Sends the requests of the S3 client. */
export interface StoreHttpHandler {
  handle(request: HttpRequest, options?: HttpHandlerOptions): Promise<{ response: HttpResponse }>
  /** The number of connections that carry a request, or an answer that has not been read completely. */
  readonly busyConnections: () => number
  destroy(): void
}

/**
 * Creates an HTTP handler for the S3 client that distinguishes a silent store from a slow reader. The client's own handler counts time in
 * which the reader does not read as silence, and so would cut off customers with slow connections. Without its timeout, a request to a
 * store that falls silent halfway would never end.
 */
export function createHttpHandler(timeouts: Timeouts): StoreHttpHandler {
  // Without a limit of connections: slow downloads would use it up and block uploads.
  const agents = {
    'http:': new http.Agent({ keepAlive: true, maxFreeSockets: 64 }),
    'https:': new https.Agent({ keepAlive: true, maxFreeSockets: 64 }),
  }
  const agentOf = ({ protocol }: HttpRequest) =>
    protocol === 'https:' ? agents['https:'] : agents['http:']

  let isDestroyed = false

  return {
    handle(request, { abortSignal } = {}) {
      // After `destroy` the client may still retry requests that were under way.
      if (isDestroyed) return Promise.reject(closedError())
      const start = request.protocol === 'https:' ? https.request : http.request
      return new Promise((resolve, reject) => {
        const outgoing = start({
          method: request.method,
          // Node wants IPv6 addresses without the brackets of the URL.
          host: request.hostname.replace(/^\[(.*)\]$/, '$1'),
          port: request.port,
          path: pathOf(request),
          headers: request.headers,
          agent: agentOf(request),
        })
        // This listener stays after the answer has begun: without one, a late error would end the process.
        outgoing.on('error', (error) =>
          reject(outgoing.writableFinished ? error : markUnsent(error)),
        )
        outgoing.once('response', (incoming) => resolve({ response: toResponse(incoming) }))
        limitWaiting(outgoing, timeouts)
        cancelWith(outgoing, abortSignal)
        sendBody(outgoing, request.body)
      })
    },
    busyConnections: () =>
      Object.values(agents)
        .flatMap((agent) => Object.values(agent.sockets))
        .reduce((sum, sockets) => sum + (sockets?.length ?? 0), 0),
    destroy: () => {
      isDestroyed = true
      Object.values(agents).forEach((agent) => agent.destroy())
    },
  }
}

function closedError(): Error {
  return Object.assign(new Error('The store has been closed'), { code: 'ECANCELED' })
}

function pathOf({ path, query = {} }: HttpRequest): string {
  const pairs = Object.entries(query).flatMap(([name, value]) =>
    (Array.isArray(value) ? value : [value]).map((each) =>
      each === null ? escapeUri(name) : `${escapeUri(name)}=${escapeUri(each)}`,
    ),
  )
  return pairs.length === 0 ? path : `${path}?${pairs.join('&')}`
}

function toResponse(incoming: http.IncomingMessage): HttpResponse {
  const headers = Object.entries(incoming.headers).map(([name, value]) => [
    name,
    Array.isArray(value) ? value.join(', ') : (value ?? ''),
  ])
  return {
    statusCode: incoming.statusCode ?? 0,
    headers: Object.fromEntries(headers) as Record<string, string>,
    body: incoming,
  }
}

/** A body of at least this many bytes is announced before it is sent. */
const announcedFrom = 1024 * 1024

/** Milliseconds after which a large body is sent without an answer to its announcement (RFC 9110 §10.1.1). */
const announcementMs = 1000

/**
 * Sends the body. Two kinds of bodies wait until the store asks for them (`Expect: 100-continue`):
 *
 * - A large one. A store that refuses a request at once closes the connection, and its answer is lost while we send.
 * - That of a conditional request. MinIO waits for the lock of the object before it reads the body, and does not notice
 *   meanwhile that we have given up: if it had the body already, it would publish the object after we have reported that
 *   the write failed.
 */
function sendBody(outgoing: http.ClientRequest, body: unknown): void {
  const isConditional = outgoing.hasHeader('If-Match') || outgoing.hasHeader('If-None-Match')
  const leastAnnounced = isConditional ? 1 : announcedFrom
  if (!(body instanceof Uint8Array) || body.length < leastAnnounced) {
    outgoing.end(body)
    return
  }
  outgoing.setHeader('Expect', '100-continue')
  const send = () => {
    clearTimeout(waiting)
    if (!outgoing.writableEnded && !outgoing.destroyed) outgoing.end(body)
  }
  const waiting = isConditional ? undefined : setTimeout(send, announcementMs)
  outgoing.once('continue', send)
  outgoing.once('close', () => clearTimeout(waiting))
  outgoing.once('response', (incoming) => {
    clearTimeout(waiting)
    // If the announced body was not sent, the connection cannot be used again.
    if (!outgoing.writableEnded) incoming.once('close', () => outgoing.destroy())
  })
  outgoing.flushHeaders()
}

function cancelWith(outgoing: http.ClientRequest, signal: HttpHandlerOptions['abortSignal']): void {
  if (signal === undefined) return
  const cancel = () => {
    // The client does not retry after an error of this name.
    outgoing.destroy(Object.assign(new Error('The request was aborted'), { name: 'AbortError' }))
  }
  if (signal.aborted) return cancel()
  if (!(signal instanceof AbortSignal)) return
  signal.addEventListener('abort', cancel, { once: true })
  outgoing.once('close', () => signal.removeEventListener('abort', cancel))
}

/** Destroys the request if the store exceeds the timeouts. */
function limitWaiting(
  outgoing: http.ClientRequest,
  { connectTimeoutMs, idleTimeoutMs }: Timeouts,
): void {
  let incoming: http.IncomingMessage | undefined
  outgoing.once('response', (message) => (incoming = message))
  const giveUp = (what: string) => {
    const error = Object.assign(new Error(what), { name: 'TimeoutError', code: 'ETIMEDOUT' })
    incoming?.destroy(error)
    outgoing.destroy(error)
  }
  const connecting = setTimeout(
    () => giveUp(`No connection to the store within ${connectTimeoutMs} ms`),
    connectTimeoutMs,
  )
  outgoing.once('close', () => clearTimeout(connecting))

  const watch = (socket: Socket) => {
    clearTimeout(connecting)
    let waitedAt: number | undefined
    const onTimeout = () => {
      const isReaderSlow = incoming !== undefined && isUntaken(incoming)
      // The reader may have begun to wait only now: the store gets the whole time again.
      const isReaderBack = incoming !== undefined && socket.bytesRead !== waitedAt
      if (!isReaderSlow && !isReaderBack) {
        return giveUp(`The store has been silent for ${idleTimeoutMs} ms`)
      }
      waitedAt = isReaderSlow ? undefined : socket.bytesRead
      return socket.setTimeout(idleTimeoutMs)
    }
    socket.setTimeout(idleTimeoutMs).on('timeout', onTimeout)
    outgoing.once('close', () => socket.setTimeout(0).off('timeout', onTimeout))
  }
  outgoing.once('socket', (socket: Socket) => {
    if (!socket.connecting) return watch(socket)
    const connected = 'encrypted' in socket ? 'secureConnect' : 'connect'
    socket.once(connected, () => watch(socket))
  })
}

/** Whether the reader has not yet read all that has arrived, including the end: then the reader is slow, not the store. */
function isUntaken({ readableLength, complete, readableEnded }: http.IncomingMessage): boolean {
  return readableLength > 0 || (complete && !readableEnded)
}
