import { connect, type Socket } from 'node:net'
import { expect } from 'chai'
import { connectionsWithin } from '../../src/serve/limit-connections.ts'
import { openConnection, uploadHead } from '../support/connection.ts'
import { startHoldfast, startHoldfastByShell, type HoldfastServer } from '../support/holdfast.ts'
import { createSite, credentials, type Site } from '../support/site.ts'
import { until } from '../support/until.ts'

const login = Object.entries(credentials).map(([name, value]) => `${name}: ${value}\r\n`)
const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: a\r\n${login.join('')}\r\n`

/** Opens `count` connections that say nothing, and waits until the system has connected or closed each. */
async function openSilent(port: number, count: number): Promise<readonly Socket[]> {
  const sockets = Array.from({ length: count }, () => connect(port, '127.0.0.1').resume())
  let settled = 0
  for (const socket of sockets) {
    socket.on('error', () => {})
    const settle = () => {
      settled++
    }
    socket.once('connect', settle).once('close', () => {
      if (socket.connecting) settle()
    })
  }
  await until('all have been tried', () => settled >= count)
  return sockets
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
  let silent: readonly Socket[] = []
  beforeEach(async () => {
    site = await createSite()
  })
  afterEach(async () => {
    for (const socket of silent) socket.destroy()
    await server?.kill()
    await site.remove()
  })

  const open = () => silent.filter(({ closed }) => !closed).length

  it('is by default what open files allow, so that requests find them', async () => {
    server = await startHoldfastByShell(`ulimit -n 300; holdfast serve --port 0 --cache-size 0`, {
      cwd: site.path,
    })
    const customer = await openConnection(server.port)
    customer.write(`${uploadHead('kept', 4)}body`)
    await customer.saw('OK')
    silent = await openSilent(server.port, 700)
    const limit = connectionsWithin(300, 1_000)
    await until(
      () => `those beyond the limit are closed; ${open()} are open`,
      () => open() <= limit,
    )
    for (let n = 0; n < 20; n++) customer.write(`${get('/serve/kept')}${uploadHead('new', 1)}x`)
    customer.write(get('/ping'))
    await customer.saw('pong')
    const statuses = customer.received().match(/HTTP\/1\.1 \d+/g)
    expect(statuses).to.deep.equal(Array.from({ length: 42 }, () => 'HTTP/1.1 200'))
    customer.socket.destroy()
  })

  it('closes those beyond it, and takes others when there is room again', async () => {
    server = await startHoldfast(['--max-connections', '3'], { cwd: site.path })
    silent = await openSilent(server.port, 10)
    await until('all but three are closed', () => open() === 3)
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
})
