import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { createServer as createTlsServer, Server as TlsServer } from 'node:tls'
import {
  makeTemporaryDirectory,
  startBadLine,
  type TemporaryDirectory,
  useTrustedCertificate,
} from '@holdfast/testing'
import { expect } from 'chai'
import { createClient, openFile } from '../src/index.ts'
import { contentOf, mebibyte } from './support/content.ts'
import { login } from './support/running-service.ts'
import { startProxy } from './support/start-proxy.ts'
import { useService } from './support/use-service.ts'

/** Has `server` listen on a free port, and pass on to `port` what comes. */
async function startSlowLine(port: number, server: Server) {
  server.on(server instanceof TlsServer ? 'secureConnection' : 'connection', (client: Socket) => {
    const upstream = connect({ port, host: '127.0.0.1' }).on('error', () => {})
    upstream.pipe(client).on('error', () => {})
    client.on('close', () => upstream.destroy())
    void passSlowly(client, upstream)
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    [Symbol.asyncDispose]: async () => void server.close(),
  }
}

/** Takes little at a time, so that the sender waits again and again. */
async function passSlowly(from: Socket, to: Socket): Promise<void> {
  for await (const chunk of from as AsyncIterable<Buffer>) {
    to.write(chunk)
    for (let tick = 0; tick < 20; tick++) await setImmediate()
  }
}

for (const mayBlock of [false, true]) {
  describe(`A file that is sent from memory that is used again${mayBlock ? ', without threads,' : ''} arrives as it is`, function () {
    this.timeout(60_000)
    const service = useService()
    const certificate = useTrustedCertificate()
    const content = contentOf(33 * mebibyte + 5)
    let place: TemporaryDirectory
    let path = ''

    before(async () => {
      place = await makeTemporaryDirectory()
      path = join(place.path, 'file')
      await writeFile(path, content)
    })
    after(() => place.remove())

    const expectArrival = async ({ port }: { readonly port: number }, scheme = 'http') => {
      await createClient({ url: `${scheme}://127.0.0.1:${port}`, ...login }).upload(
        'file',
        await openFile(path, { mayBlock }),
      )
      expect((await service.stored('file')).equals(content)).to.equal(true)
    }

    it('over a line that is slower than the disk', async () => {
      await using line = await startSlowLine(service.port, createServer())
      await expectArrival(line)
    })

    it('by TLS, over a line that is slower than the disk', async () => {
      const { certificate: cert, privateKey: key } = certificate()
      await using line = await startSlowLine(service.port, createTlsServer({ cert, key }))
      await expectArrival(line, 'https')
    })

    it('over a line that breaks in the middle', async () => {
      const fates = [3, 7, 5].map((mib) => ({ cutAfter: mib * mebibyte + 12_345 }))
      await using line = await startBadLine(service.port, fates)
      await expectArrival(line)
      expect(line.connections()).to.be.at.least(fates.length)
    })

    it('through a proxy that answers before it has all of it', async () => {
      let refusals = 3
      await using proxy = await startProxy(service.port, ({ method }, response) => {
        if (method !== 'PATCH' || refusals === 0) return false
        refusals--
        response.writeHead(503, { Connection: 'close' }).end()
        return true
      })
      await expectArrival(proxy)
      expect(refusals).to.equal(0)
    })
  })
}
