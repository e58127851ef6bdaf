import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { until } from '@holdfast/testing'
import { startBrokenLine } from './start-broken-line.ts'

/** More than the buffers of two connections hold. */
const size = 32 * 1024 ** 2

describe('startBrokenLine', () => {
  it('passes a request on while no one reads its duplicate', async () => {
    const sockets: Socket[] = []
    let received = 0
    const server = createServer((socket) => {
      // The first one is the request itself.
      if (sockets.push(socket) === 1) socket.on('data', ({ length }) => (received += length))
      else socket.pause()
      socket.on('error', () => {})
    })
    await once(server.listen(0, '127.0.0.1'), 'listening')
    try {
      const { port } = server.address() as AddressInfo
      await using line = await startBrokenLine(await doublingSeed())
      line.lead(port)
      const client = connect(line.port, '127.0.0.1')
      client.write(Buffer.alloc(size))
      await until('all of it has come', () => received === size)
      await until('the duplicate is there, too', () => sockets.length === 2)
      client.destroy()
    } finally {
      for (const socket of sockets) socket.destroy()
      server.close()
    }
  })
})

/** A seed with which a line doubles its first connection. */
async function doublingSeed(): Promise<number> {
  for (let seed = 0; ; seed++) {
    await using line = await startBrokenLine(seed)
    // It leads nowhere yet.
    const probe = connect(line.port, '127.0.0.1').on('error', () => {})
    await until('it has a fate', () => Object.values(line.fates).some((count) => count > 0))
    probe.destroy()
    if (line.fates.doubled > 0) return seed
  }
}
