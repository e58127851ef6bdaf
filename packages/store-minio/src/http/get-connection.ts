import * as net from 'node:net'
import * as tls from 'node:tls'
import {
  createGetExchange,
  type GetAnswer,
  type GetExchange,
  type ResponseHead,
} from './get-exchange.ts'

/** A connection that carries one GET at a time. */
export interface GetConnection {
  /** Sends a request with this head, and resolves when the head of the answer has come. */
  readonly send: (head: string) => Promise<GetAnswer>
  readonly destroy: () => void
}

export interface GetConnectionOptions extends Timeouts {
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
export function openGetConnection(options: GetConnectionOptions): GetConnection {
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
