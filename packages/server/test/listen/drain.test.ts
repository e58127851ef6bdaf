import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { connect } from 'node:net'
import {
  type Connection,
  credentials,
  type HoldfastServer,
  openConnection,
  until,
  uploadHead,
  useHoldfast,
} from '@holdfast/testing'
import { expect } from 'chai'

describe('holdfast serve at SIGTERM', () => {
  const holdfast = useHoldfast()
  const { site } = holdfast
  let server: HoldfastServer | undefined

  const start = async (...args: string[]) => {
    server = await holdfast.start(args)
    return server
  }

  /** An upload of ten bytes, of which the server has taken five. */
  const beginUpload = async (
    port: number,
    name: string,
    headers: readonly string[] = [],
  ): Promise<Connection> => {
    const connection = await openConnection(port)
    const uploads = (await site.litter()).length
    connection.write(uploadHead(name, 10, headers))
    connection.write('first')
    await until('the upload is under way', async () => (await site.litter()).length > uploads)
    return connection
  }

  const drain = async (running: HoldfastServer, signal: NodeJS.Signals = 'SIGTERM') => {
    running.signal(signal)
    await running.logged('finishing the requests under way')
  }

  const isRefused = (port: number) =>
    new Promise<boolean>((resolve) => {
      const socket = connect(port, '127.0.0.1')
      socket.once('error', () => resolve(true))
      socket.once('connect', () => {
        socket.destroy()
        resolve(false)
      })
    })

  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    it(`ends with exit code 0 at ${signal} when nothing is under way`, async () => {
      const running = await start()
      running.signal(signal)
      expect(await running.ended).to.equal(0)
      expect(running.lines().at(-1)).to.include({ msg: 'stopped', level: 30 })
    })
  }

  it('announces the end of the connection to a client whose upload under way is refused, too', async () => {
    const running = await start()
    const digest = `Content-Digest: sha-256=:${Buffer.alloc(32).toString('base64')}:`
    const upload = await beginUpload(running.port, 'a.txt', [digest])
    await drain(running)
    upload.write('+last')
    await upload.closed
    expect(upload.received())
      .to.match(/^HTTP\/1.1 400 Bad Request\r\n/)
      .and.to.match(/^Connection: close\r$/m)
    expect(await running.ended).to.equal(0)
  })

  it('lets an upload under way finish, and refuses new connections meanwhile', async () => {
    const running = await start()
    const upload = await beginUpload(running.port, 'a.txt')
    await drain(running)
    await until('new connections are refused', () => isRefused(running.port))
    upload.write('+last')
    await upload.closed
    expect(upload.received())
      .to.match(/^HTTP\/1.1 200 OK\r\n/)
      .and.to.match(/\r\n\r\nOK$/)
    expect(await running.ended).to.equal(0)
    expect(running.lines().at(-1)).to.include({ msg: 'stopped' })
    expect(await readFile(join(site.path, 'data/files/demo/a.txt'), 'utf8')).to.equal('first+last')
  })

  it('says on the answer under way that the connection ends, and ends it', async () => {
    const running = await start()
    const upload = await beginUpload(running.port, 'a.txt')
    await drain(running)
    upload.write('+last')
    await upload.closed
    expect(upload.received()).to.match(/\r\nConnection: close\r\n/i)
    expect(await running.ended).to.equal(0)
  })

  it('does the same for a client that got 100 Continue', async () => {
    const running = await start()
    const upload = await openConnection(running.port)
    upload.write(uploadHead('a.txt', 10, ['Expect: 100-continue']))
    await upload.saw('HTTP/1.1 100 Continue\r\n\r\n')
    await drain(running)
    upload.write('0123456789')
    await upload.closed
    expect(upload.received()).to.match(/HTTP\/1.1 200 OK\r\n/)
    expect(upload.received()).to.match(/\r\nConnection: close\r\n/i)
    expect(await running.ended).to.equal(0)
  })

  it('lets a download under way finish, whose answer had promised more on the connection', async () => {
    const running = await start()
    const size = 32 * 1024 * 1024
    const stored = await fetch(`${running.url}/upload/big`, {
      method: 'PUT',
      headers: credentials,
      body: Buffer.alloc(size, 7),
    })
    expect(stored.status).to.equal(200)
    const { socket, closed } = await openConnection(running.port)
    let received = 0
    socket.on('data', (chunk: Buffer) => (received += chunk.length))
    const lines = Object.entries(credentials).map(([header, value]) => `${header}: ${value}`)
    socket.write(['GET /serve/big HTTP/1.1', 'Host: x', ...lines, '\r\n'].join('\r\n'))
    await until('the download is under way', () => received > 0)
    socket.pause()
    await drain(running)
    socket.resume()
    await closed
    expect(received).to.be.greaterThan(size)
    expect(await running.ended).to.equal(0)
    expect(running.lines().at(-1)).to.include({ msg: 'stopped' })
  })

  it('closes connections at once that are kept, or were opened in advance and never used', async () => {
    const running = await start()
    const kept = await openConnection(running.port)
    kept.write('GET /ping HTTP/1.1\r\nHost: x\r\n\r\n')
    await kept.saw('pong')
    const unused = await openConnection(running.port)
    const begun = await openConnection(running.port)
    begun.write('GET /ping HTTP/1.1\r\nHo')
    const upload = await beginUpload(running.port, 'a.txt')
    await drain(running)
    await Promise.all([kept.closed, unused.closed, begun.closed])
    expect(upload.socket.destroyed).to.equal(false)
    upload.write('+last')
    await upload.closed
    expect(await running.ended).to.equal(0)
    expect(running.lines().at(-1)).to.include({ msg: 'stopped' })
  })

  it('cuts what is left when the grace is over, says so, and leaves nothing of it', async () => {
    const running = await start('--shutdown-grace', '300ms')
    const upload = await beginUpload(running.port, 'a.txt')
    await drain(running)
    await upload.closed
    expect(await running.ended).to.equal(0)
    expect(running.lines().at(-1)).to.include({ level: 40 })
    expect(running.lines().at(-1)?.['msg']).to.include('cut off')
    expect(await site.litter()).to.deep.equal([])
    expect(upload.received()).not.to.include('200')
  })

  it('cuts what is left at the second signal, whichever it is', async () => {
    const running = await start('--shutdown-grace', '1h')
    const upload = await beginUpload(running.port, 'a.txt')
    await drain(running, 'SIGINT')
    running.signal('SIGTERM')
    await upload.closed
    expect(await running.ended).to.equal(0)
    expect(running.lines().at(-1)?.['msg']).to.include('cut off')
    expect(await site.litter()).to.deep.equal([])
  })
})
