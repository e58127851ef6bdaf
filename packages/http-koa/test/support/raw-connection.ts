import { once } from 'node:events'
import { connect } from 'node:net'
import { until } from '@holdfast/testing'

/** What a server has sent on a connection, up to the end of the first answer. */
export interface RawAnswer {
  readonly status: number
  readonly headers: Headers
  readonly body: string
}

/** A TCP connection on which a test decides about every byte. */
export interface RawConnection {
  send(data: string | Uint8Array): void
  /** Sends `data`, and tells whether the system has taken all of it within a fifth of a second. */
  isTaken(data: Uint8Array): Promise<boolean>
  /** Says that no more is coming, and goes on reading. */
  halfClose(): void
  /** Sends a RST. */
  reset(): void
  pause(): void
  resume(): void
  /** All that has arrived. */
  received(): Buffer
  isClosed(): boolean
  /** Waits for the first answer. */
  answer(): Promise<RawAnswer>
  [Symbol.dispose](): void
}

export async function connectRaw(port: number): Promise<RawConnection> {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
  await once(socket, 'connect')
  const chunks: Buffer[] = []
  let isClosed = false
  // A server that refuses may close while there is still something to send.
  socket.on('error', () => {})
  socket.on('data', (chunk: Buffer) => chunks.push(chunk))
  socket.on('end', () => (isClosed = true))
  socket.on('close', () => (isClosed = true))
  const received = () => Buffer.concat(chunks)

  return {
    send: (data) => void socket.write(data),
    isTaken: (data) =>
      new Promise((resolve) => {
        socket.write(data, () => resolve(true))
        setTimeout(() => resolve(false), 200)
      }),
    halfClose: () => void socket.end(),
    reset: () => void socket.resetAndDestroy(),
    pause: () => void socket.pause(),
    resume: () => void socket.resume(),
    received,
    isClosed: () => isClosed,
    async answer() {
      await until('an answer came', () => isClosed || isWhole(received()))
      return parse(received())
    },
    [Symbol.dispose]: () => void socket.destroy(),
  }
}

/** Sends these bytes on a connection of their own, and takes the answer. */
export async function exchange(port: number, data: string | Uint8Array): Promise<RawAnswer> {
  using connection = await connectRaw(port)
  connection.send(data)
  return await connection.answer()
}

function isWhole(bytes: Buffer): boolean {
  const end = bytes.indexOf('\r\n\r\n')
  if (end < 0) return false
  const { status, headers, body } = parse(bytes)
  if (status === 100) return true
  if (headers.get('transfer-encoding') === 'chunked') return body.endsWith('0\r\n\r\n')
  const length = headers.get('content-length')
  return length !== null && Buffer.byteLength(body, 'latin1') >= Number(length)
}

/** An answer's body in Latin-1: a character a byte. */
function parse(bytes: Buffer): RawAnswer {
  const text = bytes.toString('latin1')
  const [head = '', ...body] = text.split('\r\n\r\n')
  const [statusLine = '', ...lines] = head.split('\r\n')
  const status = /^HTTP\/1\.1 (\d{3}) /.exec(statusLine)?.[1]
  if (status === undefined) throw new Error(`Not an answer: ${JSON.stringify(text)}`)
  const headers = new Headers(
    lines.map((line): [string, string] => {
      const colon = line.indexOf(':')
      return [line.slice(0, colon), line.slice(colon + 1).trim()]
    }),
  )
  // What follows may belong to the next answer.
  const length = Number(headers.get('content-length') ?? Infinity)
  return { status: Number(status), headers, body: body.join('\r\n\r\n').slice(0, length) }
}
