import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { credentials } from './site.ts'
import { until } from './until.ts'

/** A connection on which bytes are written as the test wants them. */
export interface Connection {
  readonly socket: Socket
  write(text: string): void
  /** All that has come so far. */
  received(): string
  /** Waits until `part` has come. */
  saw(part: string): Promise<void>
  /** Resolves when the server has closed or cut the connection. */
  readonly closed: Promise<void>
}

/** Opens a connection to a port of this machine; over TLS when `ca` says, as PEM, whose certificates are believed. */
export async function openConnection(port: number, ca?: string): Promise<Connection> {
  const to = { port, host: '127.0.0.1' }
  const socket: Socket = ca === undefined ? connect(to) : connectTls({ ...to, ca })
  let received = ''
  socket.on('data', (chunk: Buffer) => (received += chunk.toString('latin1')))
  // Some tests are about a cut; `closed` reports it.
  socket.on('error', () => {})
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()))
  await once(socket, ca === undefined ? 'connect' : 'secureConnect')
  return {
    socket,
    write: (text) => void socket.write(text),
    received: () => received,
    saw: (part) =>
      until(
        () => `"${part}" comes; there came: ${received}`,
        () => received.includes(part),
      ),
    closed,
  }
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
