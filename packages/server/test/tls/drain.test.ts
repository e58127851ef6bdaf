import { connect } from 'node:net'
import { once } from 'node:events'
import {
  type HoldfastServer,
  openConnection,
  until,
  uploadHead,
  createTlsSite,
  type TlsSite,
} from '@holdfast/testing'
import { expect } from 'chai'

/** The first bytes of a TLS record with the beginning of a ClientHello, which never goes on. */
const halfHello = Buffer.from('160301020001', 'hex')

describe('holdfast serve over TLS', () => {
  let site: TlsSite
  let server: HoldfastServer
  beforeEach(async () => {
    site = await createTlsSite()
  })
  afterEach(async () => {
    await server.kill()
    await site.remove()
  })

  const start = async (...args: string[]) => {
    server = await site.start(args)
  }
  const secure = () => openConnection(server.port, { ca: site.certificate.certificate })
  const beginUpload = async () => {
    const upload = await secure()
    upload.write(uploadHead('a.txt', 10))
    upload.write('first')
    await until('the upload is under way', async () => (await site.litter()).length === 1)
    return upload
  }
  const drain = async () => {
    server.signal('SIGTERM')
    await server.logged('finishing the requests under way')
  }

  it('closes idle connections at SIGTERM, those in the handshake too, and lets an upload finish', async () => {
    await start('--shutdown-grace', '1h')
    const silent = await openConnection(server.port)
    const greeting = await openConnection(server.port)
    greeting.socket.write(halfHello)
    const unused = await secure()
    const kept = await secure()
    kept.write('GET /ping HTTP/1.1\r\nHost: x\r\n\r\n')
    await kept.saw('pong')
    const upload = await beginUpload()
    await drain()
    await Promise.all([silent, greeting, unused, kept].map(({ closed }) => closed))
    expect(upload.socket.destroyed).to.equal(false)
    upload.write('+last')
    await upload.closed
    expect(upload.received()).to.match(/^HTTP\/1\.1 200 OK\r\n[^]*\r\nConnection: close\r\n/i)
    expect(await server.ended).to.equal(0)
    expect(server.lines().at(-1)).to.include({ msg: 'stopped' })
  })

  it('cuts what is left when the grace is over, and leaves nothing of it', async () => {
    await start('--shutdown-grace', '300ms')
    const upload = await beginUpload()
    await drain()
    await upload.closed
    expect(await server.ended).to.equal(0)
    expect(server.lines().at(-1)?.['msg']).to.include('cut off')
    expect(await site.litter()).to.deep.equal([])
  })

  it('gives up on handshakes that do not end, and on connections that make no progress', async () => {
    await start('--idle-timeout', '500ms')
    const silent = await openConnection(server.port)
    const dripping = connect(server.port, '127.0.0.1').on('error', () => {})
    const dripped = once(dripping, 'close')
    const drip = setInterval(() => dripping.write(halfHello.subarray(0, 1)), 50)
    const idle = await secure()
    const upload = await beginUpload()
    await Promise.all([silent.closed, dripped, idle.closed, upload.closed])
    clearInterval(drip)
    expect(upload.received()).to.match(/^HTTP\/1\.1 408 /)
    expect(await site.curl(`${server.url}/ping`)).to.equal('pong')
  })
})
