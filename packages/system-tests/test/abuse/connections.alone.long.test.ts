// It measures latencies and memory.
import { setTimeout as delay } from 'node:timers/promises'
import {
  type Connection,
  createSite,
  credentials,
  type HoldfastServer,
  openConnection,
  openDescriptors,
  residentMiB,
  type Site,
  startHoldfast,
  until,
  uploadHead,
} from '@holdfast/testing'
import { expect } from 'chai'

const MiB = 2 ** 20
const lines = Object.entries(credentials).map(([name, value]) => `${name}: ${value}\r\n`)
const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: a\r\n${lines.join('')}\r\n`
const ping = 'GET /ping HTTP/1.1\r\nHost: a\r\n\r\n'

describe('connections that only cost', function () {
  this.timeout(120_000)
  const figures: string[] = []
  let site: Site
  let server: HoldfastServer
  const start = async (...args: string[]) => {
    server = await startHoldfast(['--max-requests-per-customer', '1000', ...args], {
      cwd: site.path,
    })
  }
  beforeEach(async () => {
    site = await createSite()
  })
  afterEach(async () => {
    await server.kill()
    await site.remove()
  })
  after(() => {
    console.log(`figures: connections: ${figures.join('; ')}`)
  })

  const upload = async (name: string, size: number) => {
    const init = { method: 'PUT', headers: credentials, body: Buffer.alloc(size, name) }
    expect((await fetch(`${server.url}/upload/${name}`, init)).status).to.equal(200)
  }

  it('are cut where a head trickles on each, while others are served', async () => {
    await start('--idle-timeout', '2s')
    const connections = await openMany(server.port, 300)
    const trickle = setInterval(() => {
      for (const each of connections) if (each.socket.writable) each.write('a')
    }, 100)
    for (const each of connections) each.write('GET /')
    const slow = await medianLatency(server.port)
    await all('cut', connections)
    clearInterval(trickle)
    const answers = connections.map((each) => each.received().slice(0, 12))
    expect(new Set(answers)).to.deep.equal(new Set(['HTTP/1.1 408']))
    expect(slow).to.be.lessThan(1000)
    figures.push(`300 trickling heads cut, others answered in ${slow.toFixed(1)} ms meanwhile`)
  })

  it('are cut where chunks stall in their framing, and leave nothing', async () => {
    await start('--idle-timeout', '1s')
    const head = uploadHead('stalled', 0).replace('Content-Length: 0', 'Transfer-Encoding: chunked')
    const connections = await openMany(server.port, 5)
    for (const [index, begun] of ['', '4', '4\r', '4\r\nbo', '4\r\nbody\r\n0\r\n'].entries()) {
      connections[index]?.write(head + begun)
    }
    await all('cut', connections)
    for (const each of connections) expect(each.received()).to.match(/^HTTP\/1\.1 40[08] /)
    await until('nothing is left', async () => (await site.litter()).length === 0)
  })

  it('take little memory where 200 clients read a large file slowly, and are cut', async () => {
    await start('--idle-timeout', '2s')
    await upload('large', 64 * MiB)
    await (await fetch(`${server.url}/serve/large`, { headers: credentials })).arrayBuffer()
    const { now: before } = await residentMiB(server.pid)
    const connections = await openMany(server.port, 200)
    for (const each of connections) {
      each.write(get('/serve/large'))
      each.socket.once('data', () => each.socket.pause())
    }
    await until('all have begun to read', () => connections.every((each) => each.received() !== ''))
    const cut = () => server.lines().filter((line) => line['aborted'] === true).length
    await until(
      () => `all are cut; ${cut()} are`,
      () => cut() === connections.length,
      60_000,
    )
    for (const { socket } of connections) socket.destroy()
    const each = ((await residentMiB(server.pid)).most - before) / connections.length
    figures.push(`200 slow readers of 64 MiB cost ${each.toFixed(2)} MiB each at most`)
    expect(each).to.be.lessThan(2)
  })

  it('may be five thousand: others are served as before, and they end by the timeout', async () => {
    await start('--idle-timeout', '12s')
    for (let n = 0; n < 200; n++) await (await fetch(`${server.url}/ping`)).text()
    const quiet = await medianLatency(server.port)
    const { now: before } = await residentMiB(server.pid)
    const silent = await openMany(server.port, 2500)
    const used = await openMany(server.port, 2500)
    for (const each of used) each.write(ping)
    await until('all are answered', () => used.every((each) => each.received().endsWith('pong')))
    const each = (((await residentMiB(server.pid)).now - before) * 1024) / 5000
    const crowded = await medianLatency(server.port)
    expect(await openDescriptors(server.pid)).to.be.greaterThan(5000)
    figures.push(
      `5000 idle ones cost ${each.toFixed(1)} KiB each, latency of others ${quiet.toFixed(2)} ms without and ` +
        `${crowded.toFixed(2)} ms with them`,
    )
    expect(each).to.be.lessThan(64)
    expect(crowded).to.be.lessThan(10 * quiet + 20)
    await all('closed', [...silent, ...used])
    await until('all are given back', async () => (await openDescriptors(server.pid)) < 100)
  })

  it('leave nothing where a thousand uploads and downloads are reset at any moment', async () => {
    await start()
    await upload('large', 4 * MiB)
    await (await fetch(`${server.url}/serve/large`, { headers: credentials })).arrayBuffer()
    const before = await openDescriptors(server.pid)
    const seed = Math.floor(Math.random() * 2 ** 31)
    const random = seeded(seed)
    const requests = [
      uploadHead('aborted', 100_000) + 'x'.repeat(60_000),
      uploadHead('aborted', 0).replace('Content-Length: 0', 'Transfer-Encoding: chunked') +
        'a\r\nxxx',
      uploadHead('aborted', 50, ['Expect: 100-continue']),
      `${get('/serve/large')}${get('/list')}`,
      uploadHead('large', 4).slice(0, 60),
    ]
    for (let wave = 0; wave < 20; wave++) {
      const connections = await openMany(server.port, 50)
      const resets = connections.map(async (connection, index) => {
        connection.write(requests[index % requests.length] ?? '')
        await delay(random() * 30)
        connection.socket.resetAndDestroy()
      })
      await Promise.all(resets)
    }
    await until(
      () => `nothing is left, seed ${seed}`,
      async () => (await site.litter()).length === 0,
    )
    await until(
      () => `all descriptors are given back, seed ${seed}`,
      async () => (await openDescriptors(server.pid)) <= before + 2,
    )
    const list = await fetch(`${server.url}/list`, { headers: credentials })
    expect(await list.json()).to.deep.equal(['large'])
    expect(server.lines().filter(({ level }) => Number(level) >= 50)).to.deep.equal([])
    figures.push('1000 reset in the middle left no file and no descriptor')
  })
})

async function openMany(port: number, count: number): Promise<readonly Connection[]> {
  const connections: Connection[] = []
  while (connections.length < count) {
    const wave = Math.min(100, count - connections.length)
    connections.push(
      ...(await Promise.all(Array.from({ length: wave }, () => openConnection(port)))),
    )
  }
  return connections
}

function all(what: string, connections: readonly Connection[]): Promise<void> {
  return until(
    () => `all are ${what}; ${connections.filter(({ socket }) => socket.closed).length} are`,
    () => connections.every(({ socket }) => socket.closed),
    60_000,
  )
}

/** Of 200 requests on one connection, one after another, in milliseconds. */
async function medianLatency(port: number): Promise<number> {
  const connection = await openConnection(port)
  const taken: number[] = []
  for (let n = 1; n <= 200; n++) {
    const begin = performance.now()
    const answer = new Promise((resolve) => connection.socket.once('data', resolve))
    connection.write(ping)
    await answer
    taken.push(performance.now() - begin)
  }
  connection.socket.destroy()
  return taken.sort((one, other) => one - other)[taken.length >> 1] ?? NaN
}

function seeded(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff
    return state / 0x7fffffff
  }
}
