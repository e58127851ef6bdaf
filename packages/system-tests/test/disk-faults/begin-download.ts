import { credentials, openConnection } from '@holdfast/testing'
import { expect } from 'chai'
import type { FaultSite } from './fault-site.ts'

/** The size of `large`: more than a connection holds on its way. */
export const size = 16_000_000

export async function storeLarge(site: FaultSite): Promise<void> {
  expect(await site.ask('PUT', '/upload/large', Buffer.alloc(size, 'x'))).to.equal('200 OK')
}

export interface StalledDownload {
  /** Takes the rest; resolves with how many bytes of the content came before the connection was closed. */
  finish(): Promise<number>
}

/** Begins to download the file `large`, and takes next to nothing of it. */
export async function beginDownload(site: FaultSite): Promise<StalledDownload> {
  const connection = await openConnection(site.server.port)
  const lines = Object.entries(credentials).map(([name, value]) => `${name}: ${value}`)
  const head = ['GET /serve/large HTTP/1.1', 'Host: holdfast', 'Connection: close', ...lines]
  connection.write(`${head.join('\r\n')}\r\n\r\n`)
  await connection.saw('\r\n\r\n')
  connection.socket.pause()
  return {
    async finish() {
      connection.socket.resume()
      await connection.closed
      const received = connection.received()
      return received.length - received.indexOf('\r\n\r\n') - '\r\n\r\n'.length
    },
  }
}
