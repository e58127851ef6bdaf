import * as net from 'node:net'
import * as tls from 'node:tls'
import type { Timeouts } from './http-handler.ts'
import { createGetExchange, type GetAnswer, type GetExchange } from './get-exchange.ts'
import type { ResponseHead } from './response-head.ts'

/** One connection, for one GET after the other. */
export interface GetConnection {
  /** Sends a request, given as the text of its head, and resolves with the head of the answer. */
  readonly send: (head: string) => Promise<GetAnswer>
  readonly destroy: () => void
}

export interface GetConnectionOptions extends Timeouts {
  readonly endpoint: URL
  /** Called when an answer has been taken to its end, and the connection may be used again. */
  readonly onFree: (connection: GetConnection) => void
  readonly onClose: (connection: GetConnection) => void
}

/** What is read at a time. There are two, so that one is filled while the other is sent on. */
const bufferSize = 256 * 1024

/**
 * For how long nothing is read, in milliseconds, once all that had come is read and more than a buffer is still to come.
 * To be woken up by each piece that a quick store sends costs more than to take the pieces.
 */
const restMs = 1

/**
 * Opens a connection that reads into two buffers of its own, for as long as it lives. Node's HTTP client makes a new
 * buffer of every 64 KiB, and collecting them costs more than everything else that is done to a download on its way.
 */
export function openGetConnection(options: GetConnectionOptions): GetConnection {
  const { endpoint, connectTimeoutMs, idleTimeoutMs, onFree, onClose } = options
  const buffers = [Buffer.allocUnsafeSlow(bufferSize), Buffer.allocUnsafeSlow(bufferSize)] as const
  /** The buffers with bytes that are not done with. */
  const full = new Set<Uint8Array>()
  let filling: 0 | 1 = 0
  let isPaused = false
  let isResting = false
  let exchange: GetExchange | undefined
  let failure: Error | undefined

  const goOn = () => {
    if (!isPaused || isResting || full.has(buffers[filling])) return
    isPaused = false
    socket.resume()
  }
  const rest = () => {
    isResting = true
    setTimeout(() => {
      isResting = false
      goOn()
    }, restMs)
  }
  const release = (buffer: Uint8Array) => {
    full.delete(buffer)
    goOn()
  }
  const finish = ({ headers }: ResponseHead) => {
    exchange = undefined
    if (headers.get('connection')?.toLowerCase() === 'close') return socket.destroy()
    socket.unref()
    onFree(connection)
  }
  const take = (count: number, buffer: Uint8Array): boolean => {
    const bytes = Buffer.from(buffer.buffer, buffer.byteOffset, count)
    try {
      if (exchange === undefined) throw new Error('The store sends what nobody asked for')
      if (exchange.take(bytes, buffer) === 'done with') return true
    } catch (error) {
      socket.destroy(error instanceof Error ? error : new Error(String(error)))
      return false
    }
    full.add(buffer)
    filling = filling === 0 ? 1 : 0
    if (count < bufferSize && exchange.expected() > bufferSize) rest()
    isPaused = isResting || full.has(buffers[filling])
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
      // The reader is slow, or there is none, or it has only now come back.
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
