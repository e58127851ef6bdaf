import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { until } from '../until.ts'
import { credentials } from '../site.ts'

/** A connection, TCP or TLS, on which a test decides about every byte. */
export interface Connection {
  readonly socket: Socket
  /** Writes the bytes. What becomes of them shows in what arrives. */
  write(...data: readonly (string | Uint8Array)[]): void
  /** Writes the bytes, and resolves when they have been handed to the system. */
  send(...data: readonly (string | Uint8Array)[]): Promise<void>
  /** Writes `data`, and resolves to whether the system has taken all of it within a fifth of a second. */
  isTaken(data: Uint8Array): Promise<boolean>
  /** Takes the next answer, the 100 among them. Rejects when the connection closes before it is whole. */
  answer(options?: { readonly toHead?: boolean }): Promise<Answer>
  /** All that has come so far, a character a byte. */
  received(): string
  /** What has come and belongs to no answer that was taken. */
  unread(): Buffer
  /** Resolves when more has come, or the connection has closed. */
  arrival(): Promise<void>
  /** Waits until `part` has come. */
  saw(part: string): Promise<void>
  /** Stops and resumes taking what the server sends. */
  pause(): void
  resume(): void
  /** Says that no more is coming, and goes on reading. */
  halfClose(): void
  /** Sends a RST. */
  reset(): void
  /** Closes in both directions. */
  close(): void
  /** Whether the server has said that no more is coming, or the connection has gone. */
  isClosed(): boolean
  /** Resolves when the connection has gone, with the error that it died of. */
  readonly closed: Promise<Error | undefined>
  [Symbol.dispose](): void
}

export interface ConnectionOptions {
  /** The address to come from. */
  readonly localAddress?: string
  /** Whether to speak TLS. */
  readonly isTls?: boolean
  /** Speaks TLS, and believes in these certificates, as PEM. */
  readonly ca?: string | undefined
  /** Whether the client may go on sending when the server has said that no more is coming. */
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
    // Some tests are about a cut; `closed` reports it.
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

/** Sends these bytes on a connection of their own, and takes the one answer. */
export async function exchange(
  port: number,
  ...data: readonly (string | Uint8Array)[]
): Promise<Answer> {
  using connection = await openConnection(port, { staysOpen: true })
  connection.write(...data)
  return await connection.answer()
}

/** The socket, and the one below it where it speaks TLS. */
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

/** A whole answer as it came on a connection. */
export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly bytes: Buffer
  /** The bytes, a character each. */
  readonly body: string
}

interface ParsedAnswer {
  readonly answer: Answer
  /** What follows the answer. */
  readonly rest: Buffer
}

export interface ParseOptions {
  /** Whether the answer is one to HEAD, which has no body whatever its headers say. */
  readonly toHead: boolean
  /** Whether nothing more is coming. */
  readonly isClosed: boolean
}

/** The first answer in `bytes` (RFC 9112 §6.3); `undefined` while it is not whole. */
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

/** What stands before the body of an answer. */
export interface AnswerHead {
  readonly statusLine: string
  /** `NaN` where the first line is none of HTTP/1.1. */
  readonly status: number
  readonly fields: readonly (readonly [name: string, value: string])[]
  /** In bytes. */
  readonly size: number
}

/** The head that `bytes` begin with; `undefined` while it is not whole. */
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

/** How long the body is in bytes, or how its end shows (RFC 9112 §6.3). */
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
