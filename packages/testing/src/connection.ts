import { once } from 'node:events'
import { connect, type Socket, createServer, type AddressInfo } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { until } from './until.ts'
import { credentials } from './site.ts'

/** A connection, TCP or TLS, on which a test controls every byte. */
export interface Connection {
  readonly socket: Socket
  /** Writes the bytes. Failures show only in the bytes that arrive. */
  write(...data: readonly (string | Uint8Array)[]): void
  /** Writes the bytes; resolves when the system has taken them. */
  send(...data: readonly (string | Uint8Array)[]): Promise<void>
  /** Writes `data`; resolves with whether the system has taken all of it within a fifth of a second. */
  isTaken(data: Uint8Array): Promise<boolean>
  /** Resolves with the next answer; a 100 counts, too. Rejects if the connection closes before it is complete. */
  answer(options?: { readonly toHead?: boolean }): Promise<Answer>
  /** All bytes received so far, one character each. */
  received(): string
  /** The received bytes that belong to no answer returned so far. */
  unread(): Buffer
  /** Resolves when more bytes arrive, or the connection closes. */
  arrival(): Promise<void>
  /** Waits until `part` has arrived. */
  saw(part: string): Promise<void>
  /** Stops and resumes reading. */
  pause(): void
  resume(): void
  /** Ends the sending side, and continues to read. */
  halfClose(): void
  /** Sends a RST. */
  reset(): void
  /** Closes in both directions. */
  close(): void
  /** Whether the server has ended its sending side, or the connection is gone. */
  isClosed(): boolean
  /** Resolves when the connection is gone, with the error that ended it. */
  readonly closed: Promise<Error | undefined>
  [Symbol.dispose](): void
}

export interface ConnectionOptions {
  /** The local address of the connection. */
  readonly localAddress?: string
  /** Whether to use TLS. */
  readonly isTls?: boolean
  /** Uses TLS, and trusts these certificates, in PEM. */
  readonly ca?: string | undefined
  /** Whether the client may continue to send after the server has ended its sending side. */
  readonly staysOpen?: boolean
}

/** Opens a connection to a port of this machine. */
export async function openConnection(
  port: number,
  options: ConnectionOptions = {},
): Promise<Connection> {
  const { staysOpen = false } = options
  const [socket, wire] = await openSocket(port, options)
  let received = ''
  let chunks: Buffer[] = []
  let isClosed = false
  let failure: Error | undefined
  let wake = () => {}
  const unread = () => {
    const all = Buffer.concat(chunks)
    chunks = [all]
    return all
  }
  const arrival = () => new Promise<void>((resolve) => (wake = resolve))
  const end = () => {
    isClosed = true
    wake()
  }
  const closed = new Promise<Error | undefined>((resolve) => {
    // Some tests cut connections on purpose; `closed` reports that.
    socket.on('error', (error) => (failure = error))
    socket.once('close', () => {
      end()
      resolve(failure)
    })
  })
  socket.on('data', (chunk: Buffer) => {
    received += chunk.toString('latin1')
    chunks.push(chunk)
    wake()
  })
  socket.once('end', () => {
    end()
    if (!staysOpen) socket.end()
  })

  return {
    socket,
    write: (...data) => void socket.write(joined(data)),
    send: (...data) =>
      new Promise((resolve, reject) => {
        socket.write(joined(data), (error) => (error ? reject(error) : resolve()))
      }),
    isTaken: (data) =>
      new Promise((resolve) => {
        socket.write(data, () => resolve(true))
        setTimeout(() => resolve(false), 200)
      }),
    async answer({ toHead = false } = {}) {
      while (true) {
        const parsed = parseAnswer(unread(), { toHead, isClosed })
        if (parsed) {
          chunks = [Buffer.from(parsed.rest)]
          return parsed.answer
        }
        if (isClosed)
          throw new Error(`Closed after ${JSON.stringify(unread().toString().slice(0, 1000))}`)
        await arrival()
      }
    },
    received: () => received,
    unread,
    arrival,
    saw: (part) =>
      until(
        () => `"${part}" comes; there came: ${received}`,
        () => received.includes(part),
      ),
    pause: () => void socket.pause(),
    resume: () => void socket.resume(),
    halfClose: () => void socket.end(),
    reset: () => void wire.resetAndDestroy(),
    close: () => void socket.destroy(),
    isClosed: () => isClosed,
    closed,
    [Symbol.dispose]: () => void socket.destroy(),
  }
}

/** Sends these bytes on a new connection, and resolves with its first answer. */
export async function exchange(
  port: number,
  ...data: readonly (string | Uint8Array)[]
): Promise<Answer> {
  using connection = await openConnection(port, { staysOpen: true })
  connection.write(...data)
  return await connection.answer()
}

/** The socket, and the TCP socket below it if it uses TLS. */
async function openSocket(
  port: number,
  { isTls = false, ca, localAddress }: ConnectionOptions,
): Promise<readonly [Socket, Socket]> {
  const from = localAddress === undefined ? {} : { localAddress }
  const wire = connect({ port, host: '127.0.0.1', allowHalfOpen: true, ...from })
  await once(wire, 'connect')
  if (!isTls && ca === undefined) return [wire, wire]
  const socket = connectTls({ socket: wire, host: '127.0.0.1', ...(ca !== undefined && { ca }) })
  await once(socket, 'secureConnect')
  return [socket, wire]
}

function joined(data: readonly (string | Uint8Array)[]): Buffer {
  return Buffer.concat(data.map((each) => Buffer.from(each)))
}

/** A complete answer as it was received. */
export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly bytes: Buffer
  /** The bytes, a character each. */
  readonly body: string
}

interface ParsedAnswer {
  readonly answer: Answer
  /** The bytes after the answer. */
  readonly rest: Buffer
}

export interface ParseOptions {
  /** Whether the answer is one to HEAD, which has no body, whatever its headers say. */
  readonly toHead: boolean
  /** Whether no more bytes will arrive. */
  readonly isClosed: boolean
}

/** The first answer in `bytes` (RFC 9112 §6.3); `undefined` until it is complete. */
export function parseAnswer(
  bytes: Buffer,
  { toHead, isClosed }: ParseOptions,
): ParsedAnswer | undefined {
  const head = parseHead(bytes)
  if (head === undefined) return undefined
  const { status, fields } = head
  if (Number.isNaN(status)) throw new Error(`No status line: ${head.statusLine}`)
  const body = takeBody(bytes.subarray(head.size), framingOf(head, toHead), isClosed)
  if (body === undefined) return undefined
  const { content, rest } = body
  const headers = new Headers(fields.map(([name, value]): [string, string] => [name, value]))
  return { answer: { status, headers, bytes: content, body: content.toString('latin1') }, rest }
}

/** The part of an answer before its body. */
export interface AnswerHead {
  readonly statusLine: string
  /** `NaN` if the first line is not a status line of HTTP/1.1. */
  readonly status: number
  readonly fields: readonly (readonly [name: string, value: string])[]
  /** In bytes. */
  readonly size: number
}

/** The head at the beginning of `bytes`; `undefined` until it is complete. */
export function parseHead(bytes: Buffer): AnswerHead | undefined {
  const end = bytes.indexOf('\r\n\r\n')
  if (end < 0) return undefined
  const [statusLine = '', ...lines] = bytes.subarray(0, end).toString('latin1').split('\r\n')
  return {
    statusLine,
    status: Number(/^HTTP\/1\.1 (\d{3})(?: |$)/.exec(statusLine)?.[1]),
    fields: lines.map((line) => splitAt(line, line.indexOf(':'))),
    size: end + 4,
  }
}

/** The length of the body in bytes, or how its end is marked (RFC 9112 §6.3). */
export function framingOf(
  { status, fields }: Pick<AnswerHead, 'status' | 'fields'>,
  toHead: boolean,
): number | 'chunked' | 'until-closed' {
  if (toHead || status < 200 || status === 204 || status === 304) return 0
  const valueOf = (name: string) => fields.find(([each]) => each.toLowerCase() === name)?.[1]
  if (valueOf('transfer-encoding') === 'chunked') return 'chunked'
  const length = valueOf('content-length')
  return length === undefined ? 'until-closed' : Number(length)
}

interface Body {
  readonly content: Buffer
  readonly rest: Buffer
}

function takeBody(
  bytes: Buffer,
  framing: ReturnType<typeof framingOf>,
  isClosed: boolean,
): Body | undefined {
  if (framing === 'chunked') return takeChunks(bytes)
  if (framing === 'until-closed') return isClosed ? cut(bytes, bytes.length, 0) : undefined
  return bytes.length < framing ? undefined : cut(bytes, framing, 0)
}

function takeChunks(bytes: Buffer): Body | undefined {
  const chunks: Buffer[] = []
  let rest = bytes
  while (true) {
    const lineEnd = rest.indexOf('\r\n')
    const size = parseInt(rest.subarray(0, lineEnd).toString('latin1'), 16)
    if (lineEnd < 0 || rest.length < lineEnd + size + 4) return undefined
    const chunk = cut(rest.subarray(lineEnd + 2), size, 2)
    chunks.push(chunk.content)
    rest = chunk.rest
    if (size === 0) return { content: Buffer.concat(chunks), rest }
  }
}

function cut(bytes: Buffer, length: number, skipped: number): Body {
  return { content: bytes.subarray(0, length), rest: bytes.subarray(length + skipped) }
}

function splitAt(line: string, index: number): [string, string] {
  return [line.slice(0, index), line.slice(index + 1).trim()]
}

/** The headers of a raw upload of `size` bytes as the customer of the site, ready for the body. */
export function uploadHead(name: string, size: number, extra: readonly string[] = []): string {
  const lines = Object.entries(credentials).map(([header, value]) => `${header}: ${value}`)
  return [
    `PUT /upload/${name} HTTP/1.1`,
    'Host: holdfast',
    `Content-Length: ${size}`,
    ...lines,
    ...extra,
    '\r\n',
  ].join('\r\n')
}

/** What a bad line does with a connection. */
export type Fate =
  /** Both ends are reset when so many bytes have come from the client. */
  | { readonly cutAfter: number }
  /** Both ends are reset when so many bytes have come from the server. */
  | { readonly cutAnswerAfter: number }
  /** The request reaches the server; the client is reset instead of getting the answer. */
  | 'unanswered'
  /** Nothing is passed on in either direction. */
  | 'silent'

export interface BadLine extends AsyncDisposable {
  readonly port: number
  /** How many connections there have been. */
  connections(): number
}

/**
 * Forwards connections to `port` on this machine. The first connections get these fates, in their order; later ones work normally.
 *
 * @param ownPort the port to listen on; by default a free one
 */
export async function startBadLine(
  port: number,
  fates: readonly Fate[],
  ownPort = 0,
): Promise<BadLine> {
  const left = [...fates]
  let connections = 0
  const sockets = new Set<Socket>()
  const keep = (socket: Socket) => {
    sockets.add(socket)
    // Connections are meant to break here, so their errors are ignored.
    return socket.on('error', () => {}).on('close', () => sockets.delete(socket))
  }
  const server = createServer((client) => {
    const fate = left.shift()
    connections++
    keep(client)
    if (fate === 'silent') return void client.resume()
    const upstream = keep(connect({ port, host: '127.0.0.1' }))
    const cut = () => {
      client.resetAndDestroy()
      upstream.resetAndDestroy()
    }
    client.on('close', () => upstream.destroy())
    upstream.on('close', () => client.destroy())
    client.pipe(upstream)
    if (fate === 'unanswered') upstream.once('data', cut)
    else if (typeof fate === 'object' && 'cutAnswerAfter' in fate) {
      passStart(upstream, client, fate.cutAnswerAfter, cut)
    } else upstream.pipe(client)
    if (typeof fate === 'object' && 'cutAfter' in fate) afterBytes(client, fate.cutAfter, cut)
  })
  await once(server.listen(ownPort, '127.0.0.1'), 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    connections: () => connections,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      await once(server.close(), 'close')
    },
  }
}

function passStart(from: Socket, to: Socket, limit: number, then: () => void): void {
  let left = limit
  from.on('data', (chunk: Buffer) => {
    const part = chunk.subarray(0, left)
    left -= part.length
    to.write(part, left === 0 ? then : undefined)
  })
}

function afterBytes(socket: Socket, limit: number, then: () => void): void {
  let size = 0
  socket.on('data', (chunk: Buffer) => {
    size += chunk.length
    if (size >= limit) then()
  })
}
