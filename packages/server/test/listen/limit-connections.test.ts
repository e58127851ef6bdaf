import { connect, type Socket } from 'node:net'
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
} from '@holdfast/testing'
import { expect } from 'chai'
import { connectionsWithin } from '../../src/listen/limit-connections.ts'

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
