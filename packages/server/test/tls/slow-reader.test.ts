import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import { connect } from 'node:tls'
import { createHttpsServer } from '@holdfast/http-koa'
import { makeCertificate, validDays } from '@holdfast/testing'
import { until } from '@holdfast/testing'

const size = 16 * 1024 * 1024
const idleTimeoutMs = 1000

const chunk = Buffer.alloc(64 * 1024)
function* content() {
  for (let sent = 0; sent < size; sent += chunk.length) yield chunk
}

/** An application that answers every request with `size` bytes. */
const app = {
  callback: () => async (_request: unknown, response: ServerResponse) => {
    response.setHeader('Content-Length', size)
    Readable.from(content()).pipe(response)
  },
}

describe('holdfast serve over TLS, for a slow reader,', () => {
  it('lets a download pass of which the kernel has enough for long', async () => {
    const certificate = await makeCertificate({ days: validDays })
    const server = createHttpsServer(app, certificate, { idleTimeoutMs }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const socket = connect({ port, host: '127.0.0.1', ca: certificate.certificate })
    let taken = 0
    socket.on('readable', () => {})
    socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n')
    const slowly = setInterval(() => {
      const some = socket.read(Math.min(socket.readableLength, chunk.length)) as Buffer | null
      taken += some?.length ?? 0
    }, 120)
    await delay(idleTimeoutMs * 5)
    clearInterval(slowly)
    socket.removeAllListeners('readable')
    socket.on('data', (some: Buffer) => (taken += some.length))
    await until('all of it came', () => taken > size, 15_000)
    socket.destroy()
    server.close()
  })
})
