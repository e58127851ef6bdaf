import { connect, type Socket } from 'node:net'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import {
  childrenOf,
  type Connection,
  createSite,
  credentials,
  type HoldfastServer,
  openConnection,
  openDescriptors,
  type Site,
  startHoldfast,
  startHoldfastByShell,
  until,
  uploadHead,
  scrape,
  useHoldfast,
  runHoldfast,
} from '@holdfast/testing'
import { expect } from 'chai'
import { adviceText } from '@holdfast/core'
import { connectionsWithin, clearTextWarning } from '../src/listen.ts'
import { resolveConfig } from '../src/config/resolve-config.ts'

const login = Object.entries(credentials).map(([name, value]) => `${name}: ${value}\r\n`)
const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: a\r\n${login.join('')}\r\n`

/** Fewer than wait for a server to accept them: the client of one that the system drops believes that it is open. */
const atOnce = 200

/** Opens `count` connections that send nothing, and waits until the server has closed all but `limit` of them. */
async function openSilent(port: number, count: number, limit: number, sockets: Socket[]) {
  const open = () => sockets.filter(({ closed }) => !closed).length
  while (sockets.length < count) {
    const more = Math.min(atOnce, count - sockets.length)
    for (let n = 0; n < more; n++) {
      const socket = connect(port, '127.0.0.1')
      sockets.push(socket.on('error', () => {}).resume())
    }
    await until(
      () => `the server has closed all but ${limit} of ${sockets.length}; ${open()} are open`,
      () => open() <= limit && sockets.every(({ connecting }) => !connecting),
    )
  }
}

describe('connectionsWithin', () => {
  it('leaves two open files for each request, and some for the process', () => {
    expect(connectionsWithin(65_536, 1_000)).to.equal(63_408)
    expect(connectionsWithin(20_000, 1_000)).to.equal(17_872)
  })

  it('gives each connection its own two where there are less', () => {
    expect(connectionsWithin(1_024, 1_000)).to.equal(298)
    expect(connectionsWithin(100, 1_000)).to.equal(1)
  })
})

describe('holdfast serve --max-connections', () => {
  let site: Site
  let server: HoldfastServer | undefined
  let silent: Socket[] = []
  beforeEach(async () => {
    silent = []
    site = await createSite()
  })
  afterEach(async () => {
    for (const socket of silent) socket.destroy()
    await server?.kill()
    await site.remove()
  })

  /** Expects every answer to be 200 where a customer downloads and uploads. */
  const expectServed = async (customer: Connection) => {
    for (let n = 0; n < 20; n++) customer.write(`${get('/serve/kept')}${uploadHead('new', 1)}x`)
    customer.write(get('/ping'))
    await customer.saw('pong')
    const statuses = customer.received().match(/HTTP\/1\.1 \d+/g)
    expect(statuses).to.deep.equal(Array.from({ length: 42 }, () => 'HTTP/1.1 200'))
  }

  it('is by default what open files allow, so that requests find them', async () => {
    server = await startHoldfastByShell(`ulimit -n 300; holdfast serve --port 0 --cache-size 0`, {
      cwd: site.path,
    })
    const customer = await openConnection(server.port)
    customer.write(`${uploadHead('kept', 4)}body`)
    await customer.saw('OK')
    await openSilent(server.port, 800, connectionsWithin(300, 1_000), silent)
    await expectServed(customer)
    customer.socket.destroy()
  })

  it('is so in each worker, and connections cost the primary no open file', async () => {
    const script = 'ulimit -n 300; holdfast serve --port 0 --cache-size 0 --workers 2'
    server = await startHoldfastByShell(script, { cwd: site.path })
    const customer = await openConnection(server.port)
    customer.write(`${uploadHead('kept', 4)}body`)
    await customer.saw('OK')
    const before = await openDescriptors(server.pid)
    await openSilent(server.port, 800, 2 * connectionsWithin(300, 1_000), silent)
    expect(await openDescriptors(server.pid), 'of the primary').to.be.below(before + 20)
    for (const pid of await childrenOf(server.pid)) {
      expect(await openDescriptors(pid), 'of a worker').to.be.below(200)
    }
    await expectServed(customer)
    customer.socket.destroy()
  })

  it('closes those beyond it, and takes others when there is room again', async () => {
    server = await startHoldfast(['--max-connections', '3'], { cwd: site.path })
    await openSilent(server.port, 10, 3, silent)
    expect(silent.filter(({ closed }) => !closed)).to.have.length(3)
    for (const socket of silent) socket.destroy()
    const { port } = server
    await until('one is taken again', async () => {
      const connection = await openConnection(port)
      connection.write(get('/ping'))
      const isAnswered = () => connection.received().endsWith('pong')
      await until('it is answered or closed', () => connection.socket.closed || isAnswered())
      connection.socket.destroy()
      return isAnswered()
    })
  })

  for (const workers of [[], ['--workers', '2']]) {
    it(`logs and counts those that it closes ${workers.join(' ')}`.trimEnd(), async () => {
      const flags = ['--max-connections', '3', '--admin-port', '0', ...workers]
      server = await startHoldfast(flags, { cwd: site.path })
      const started = server
      const refused = async () =>
        (await scrape(started)).value('holdfast_http_connections_refused_total')
      expect(await refused()).to.equal(0)
      await openSilent(server.port, 100, 6, silent)
      const closed = silent.filter((socket) => socket.closed).length
      await until('all are counted', async () => (await refused()) === closed)
      for (const socket of silent) socket.destroy()
      server.signal('SIGTERM')
      await server.ended
      const lines = server.lines().filter(({ msg }) => String(msg).startsWith('connections beyond'))
      expect(lines[0]).to.include({ level: 40, limit: 3, closed: 1 })
      const sum = lines.reduce((total, line) => total + Number(line['closed']), 0)
      expect(sum).to.equal(closed)
      // Two for each process, unless it took more than a minute.
      expect(lines).to.have.length.within(2, 10)
    })
  }
})

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

describe('clearTextWarning', () => {
  const warning = async (flags: Readonly<Record<string, string>>) => {
    const advice = await clearTextWarning(resolveConfig({ flags }))
    return advice && adviceText(advice)
  }

  for (const host of [
    '0.0.0.0',
    '::',
    '192.0.2.1',
    '2001:db8::1',
    'nowhere.invalid',
    '128.0.0.1',
  ]) {
    it(`says for --host ${host} what to do`, async () => {
      expect(await warning({ host }))
        .to.include(`--host ${host} `)
        .and.to.include('--tls-cert')
        .and.to.include('--trust-proxy')
        .and.to.include('127.0.0.1')
    })
  }

  for (const host of ['127.0.0.1', '127.1.2.3', '::1', 'localhost', '::ffff:127.0.0.1']) {
    it(`says nothing for --host ${host}`, async () => {
      expect(await warning({ host })).to.equal(undefined)
    })
  }

  it('says nothing with a certificate or a trusted proxy', async () => {
    const host = '0.0.0.0'
    expect(await warning({ host, 'tls-cert': 'c', 'tls-key': 'k' })).to.equal(undefined)
    expect(await warning({ host, 'trust-proxy': '10.0.0.1' })).to.equal(undefined)
  })

  it('is in the log of holdfast serve', async () => {
    const site = await createSite()
    // An address that no machine has: the warning comes before the port opens.
    const args = ['serve', '--host', '192.0.2.1', '--port', '0']
    const { stdout, stderr } = await runHoldfast(args, { cwd: site.path })
    await site.remove()
    expect(stdout).to.include('Passwords and files cross the network unencrypted')
    expect(stderr).to.include('does not have the address')
  })
})
