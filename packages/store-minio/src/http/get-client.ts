import * as net from 'node:net'
import * as tls from 'node:tls'
import { createHmac, createSecretKey, hash, type KeyObject } from 'node:crypto'
import {
  type GetAnswer,
  createGetExchange,
  type GetExchange,
  type ResponseHead,
} from './get-exchange.ts'

/** The range and the conditions of a GET, by their names in HTTP. */
export interface GetHeaders {
  readonly range?: string
  readonly 'if-match'?: string
  readonly 'if-none-match'?: string
}

/** Sends GET requests for objects, without the S3 client. */
export interface GetClient {
  /** Resolves with the answer, whatever its status. Rejects if no answer comes, or one without a length. Never retries. */
  readonly get: (
    bucket: string,
    key: string,
    headers: GetHeaders,
    signal?: AbortSignal,
  ) => Promise<GetAnswer>
  /** The number of connections that carry a request, or an answer that has not been read completely. */
  readonly busyConnections: () => number
  readonly close: () => void
}

/** The most idle connections that are kept. */
const maxIdle = 32

/** Creates a client for the server of `access`. */
export function createGetClient(access: ServerAccess): GetClient {
  const endpoint = new URL(access.endpoint)
  const sign = createSigner(access)
  const idle: GetConnection[] = []
  const busy = new Set<GetConnection>()
  let isClosed = false

  const open = () =>
    openGetConnection({
      ...access,
      endpoint,
      onIdle: (one) => {
        busy.delete(one)
        if (isClosed || idle.length >= maxIdle) one.destroy()
        else idle.push(one)
      },
      onClose: (one) => {
        busy.delete(one)
        if (idle.includes(one)) idle.splice(idle.indexOf(one), 1)
      },
    })

  return {
    async get(bucket, key, headers, signal) {
      const path = pathOf(bucket, key)
      const fields = sign('GET', path, { host: endpoint.host, ...headers })
      signal?.throwIfAborted()
      if (isClosed)
        throw Object.assign(new Error('The store has been closed'), { code: 'ECANCELED' })
      const one = idle.pop() ?? open()
      busy.add(one)
      const abort = () => one.destroy()
      signal?.addEventListener('abort', abort, { once: true })
      try {
        return await one.send(`GET ${path} HTTP/1.1\r\n${fields}\r\n`)
      } finally {
        signal?.removeEventListener('abort', abort)
      }
    },
    busyConnections: () => busy.size,
    close() {
      isClosed = true
      for (const one of [...idle, ...busy]) one.destroy()
    },
  }
}

function pathOf(bucket: string, key: string): string {
  return `/${[bucket, ...key.split('/')].map(escapeUri).join('/')}`
}

/** A connection that carries one GET at a time. */
interface GetConnection {
  /** Sends a request with this head, and resolves when the head of the answer has come. */
  readonly send: (head: string) => Promise<GetAnswer>
  readonly destroy: () => void
}

interface GetConnectionOptions extends Timeouts {
  readonly endpoint: URL
  /** Called when an answer has been read completely, and the connection can carry the next request. */
  readonly onIdle: (connection: GetConnection) => void
  readonly onClose: (connection: GetConnection) => void
}

/** Of each of the two buffers, in bytes. One is filled while the reader uses the other. */
const bufferSize = 256 * 1024

/**
 * How long reading pauses, in milliseconds, after the socket was read empty while more than a buffer is still to come. One read then takes
 * several packets: with a fast store, the wake-up for a packet costs more than reading it.
 */
const coalesceMs = 1

/**
 * Opens a connection that reads into the same two buffers as long as it lives. Node's HTTP client and undici allocate a new
 * buffer for every 64 KiB, and the garbage collection of these costs more than all other work on a download
 * (decision 009).
 */
function openGetConnection(options: GetConnectionOptions): GetConnection {
  const { endpoint, connectTimeoutMs, idleTimeoutMs, onIdle, onClose } = options
  const buffers = [Buffer.allocUnsafeSlow(bufferSize), Buffer.allocUnsafeSlow(bufferSize)] as const
  /** The buffers that the reader has not released. */
  const full = new Set<Uint8Array>()
  let filling: 0 | 1 = 0
  let isPaused = false
  let isCoalescing = false
  let exchange: GetExchange | undefined
  let failure: Error | undefined

  const resumeReading = () => {
    if (!isPaused || isCoalescing || full.has(buffers[filling])) return
    isPaused = false
    socket.resume()
  }
  const coalesce = () => {
    isCoalescing = true
    setTimeout(() => {
      isCoalescing = false
      resumeReading()
    }, coalesceMs)
  }
  const release = (buffer: Uint8Array) => {
    full.delete(buffer)
    resumeReading()
  }
  const finish = ({ headers }: ResponseHead) => {
    exchange = undefined
    if (headers.get('connection')?.toLowerCase() === 'close') return socket.destroy()
    socket.unref()
    onIdle(connection)
  }
  const take = (count: number, buffer: Uint8Array): boolean => {
    const bytes = Buffer.from(buffer.buffer, buffer.byteOffset, count)
    try {
      if (exchange === undefined) throw new Error('The store sends bytes without a request')
      if (exchange.take(bytes, buffer) === 'released') return true
    } catch (error) {
      socket.destroy(error instanceof Error ? error : new Error(String(error)))
      return false
    }
    full.add(buffer)
    filling = filling === 0 ? 1 : 0
    if (count < bufferSize && exchange.expected() > bufferSize) coalesce()
    isPaused = isCoalescing || full.has(buffers[filling])
    return !isPaused
  }

  const socket = connect(endpoint, { buffer: () => buffers[filling], callback: take })
  const connecting = setTimeout(
    () => socket.destroy(timeout(`No connection to the store within ${connectTimeoutMs} ms`)),
    connectTimeoutMs,
  )
  socket
    .setNoDelay(true)
    .once(endpoint.protocol === 'https:' ? 'secureConnect' : 'connect', () => {
      clearTimeout(connecting)
      socket.setTimeout(idleTimeoutMs)
    })
    .on('timeout', () => {
      const waited = performance.now() - (exchange?.waitingSince() ?? Infinity)
      // The reader is slow or absent, or has begun to wait only recently.
      if (waited < idleTimeoutMs / 2) socket.setTimeout(idleTimeoutMs)
      else socket.destroy(timeout(`The store has been silent for ${idleTimeoutMs} ms`))
    })
    .on('error', (error) => (failure = error))
    .once('close', () => {
      clearTimeout(connecting)
      exchange?.fail(failure ?? cutOff())
      onClose(connection)
    })

  const connection: GetConnection = {
    send: (head) => {
      if (socket.destroyed) return Promise.reject(failure ?? cutOff())
      socket.ref()
      return new Promise((resolve, reject) => {
        exchange = createGetExchange({
          resolve,
          reject,
          release,
          finish,
          destroy: () => socket.destroy(),
        })
        socket.write(head, 'latin1')
      })
    },
    destroy: () => socket.destroy(),
  }
  return connection
}

type OnRead = NonNullable<net.SocketConstructorOpts['onread']>

function connect(endpoint: URL, onread: OnRead): net.Socket {
  // URLs have IPv6 addresses in brackets.
  const host = endpoint.hostname.replace(/^\[(.*)\]$/, '$1')
  const isTls = endpoint.protocol === 'https:'
  const port = Number(endpoint.port) || (isTls ? 443 : 80)
  if (!isTls) return net.connect({ host, port, onread })
  const name = net.isIP(host) === 0 ? { servername: host } : {}
  // Known to Node's tls.connect, though not to its types.
  const options = { host, port, onread, ALPNProtocols: ['http/1.1'], ...name }
  return tls.connect(options)
}

function timeout(message: string): Error {
  return Object.assign(new Error(message), { name: 'TimeoutError', code: 'ETIMEDOUT' })
}

function cutOff(): Error {
  return Object.assign(new Error('The store has cut the connection'), { code: 'ECONNRESET' })
}

export interface Timeouts {
  /** Milliseconds within which a connection must be established, TLS included. */
  readonly connectTimeoutMs: number
  /**
   * Milliseconds for which the store may neither take nor send a byte while a request waits for it. In the middle of a body
   * the request fails after twice this time at the latest.
   */
  readonly idleTimeoutMs: number
}

/** The address of a server, and the credentials to use there. */
export interface ServerAccess extends Timeouts {
  /** Such as `http://host:9000`. */
  readonly endpoint: string
  readonly region: string
  readonly accessKey: string
  readonly secretKey: string
  readonly sessionToken?: string | undefined
}

/**
 * Returns the header lines of a request: `headers`, the signature and what it needs, each line with its CRLF. The caller
 * gives the names in lower case and the path escaped. The signature does not cover the body.
 */
export type Sign = (
  method: string,
  path: string,
  headers: Readonly<Record<string, string>>,
) => string

/**
 * Signs requests to S3 (AWS Signature Version 4). The signer of the S3 client computes the same signature in several
 * times the processor time, which every GET would pay (decision 009).
 */
export function createSigner(
  {
    region,
    accessKey,
    secretKey,
    sessionToken,
  }: Pick<ServerAccess, 'region' | 'accessKey' | 'secretKey' | 'sessionToken'>,
  now: () => Date = () => new Date(),
): Sign {
  const keyOf = createDailyKeys(secretKey, region)
  return (method, path, headers) => {
    const time = now()
      .toISOString()
      .replace(/[-:]|\.\d+/g, '')
    const day = time.slice(0, 8)
    const fields: Record<string, string> = {
      ...headers,
      'x-amz-content-sha256': 'UNSIGNED-PAYLOAD',
      'x-amz-date': time,
      ...(sessionToken !== undefined && { 'x-amz-security-token': sessionToken }),
    }
    const names = Object.keys(fields).sort()
    const lines = names.map((name) => `${name}:${(fields[name] ?? '').trim().replace(/\s+/g, ' ')}`)
    const signedNames = names.join(';')
    const request = [method, path, '', ...lines, '', signedNames, 'UNSIGNED-PAYLOAD'].join('\n')
    const scope = `${day}/${region}/s3/aws4_request`
    const text = ['AWS4-HMAC-SHA256', time, scope, hash('sha256', request)].join('\n')
    const signature = createHmac('sha256', keyOf(day)).update(text).digest('hex')
    const proof = `Credential=${accessKey}/${scope}, SignedHeaders=${signedNames}, Signature=${signature}`
    return `${lines.join('\r\n')}\r\nauthorization:AWS4-HMAC-SHA256 ${proof}\r\n`
  }
}

/** Derives the signing key of a day, and keeps it for that day. */
function createDailyKeys(secretKey: string, region: string): (day: string) => KeyObject {
  let known: { readonly day: string; readonly key: KeyObject } | undefined
  return (day) => {
    if (known?.day === day) return known.key
    const key = [day, region, 's3', 'aws4_request'].reduce<string | Buffer>(
      (secret, text) => createHmac('sha256', secret).update(text).digest(),
      `AWS4${secretKey}`,
    )
    known = { day, key: createSecretKey(Buffer.from(key)) }
    return known.key
  }
}

/** Escapes all but the unreserved characters (RFC 3986 §2.3), as signatures do; `encodeURIComponent` escapes fewer. */
export function escapeUri(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  )
}
