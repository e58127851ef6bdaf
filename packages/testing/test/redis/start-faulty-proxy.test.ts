import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { expect } from 'chai'
import { startFaultyProxy, type FaultyProxy } from '../../src/redis/index.ts'
import { until } from '../../src/until.ts'

describe('startFaultyProxy', () => {
  let proxy: FaultyProxy
  const opened: Socket[] = []
  const echo = createServer((socket) => {
    opened.push(socket)
    socket.on('error', () => {}).pipe(socket)
  })
  before(async () => {
    echo.listen(0, '127.0.0.1')
    await once(echo, 'listening')
  })
  after(() => echo.close())
  beforeEach(async () => {
    proxy = await startFaultyProxy(echo.address() as AddressInfo)
  })
  afterEach(async () => {
    await proxy.close()
    for (const socket of opened.splice(0)) socket.destroy()
  })

  /** A connection through the proxy, and what has come back on it. */
  const open = async () => {
    const socket = connect(proxy.port, '127.0.0.1')
    opened.push(socket)
    await once(socket, 'connect')
    const state = { received: '', end: '' }
    socket.on('data', (chunk: Buffer) => (state.received += chunk.toString()))
    socket.once('error', (error: Error) => (state.end = String(error)))
    socket.once('close', () => (state.end ||= 'closed'))
    return {
      state,
      send: (text: string) => void socket.write(text),
      end: () => void socket.end(),
      came: (text: string) => until(`"${text}" comes back`, () => state.received === text),
    }
  }
  /** Resolves when all that was sent before has had its time. */
  const another = async () => {
    const { send, came } = await open()
    send('x')
    await came('x')
  }

  it('forwards in both directions, and the end', async () => {
    const { state, send, end, came } = await open()
    send('hello')
    await came('hello')
    expect(proxy.connections()).to.equal(1)
    end()
    await until('it is closed', () => state.end === 'closed')
    await until('the proxy has none', () => proxy.connections() === 0)
    expect(proxy.accepted()).to.equal(1)
  })

  it('delays, in order', async () => {
    const { state, send, came } = await open()
    proxy.delay(100)
    const began = performance.now()
    send('a')
    await came('a')
    expect(performance.now() - began).to.be.at.least(190)
    send('b')
    proxy.release()
    send('c')
    await came('abc')
    expect(state.end).to.equal('')
  })

  it('resets connections', async () => {
    const { state } = await open()
    await another()
    proxy.cut()
    await until('it is reset', () => state.end.includes('ECONNRESET'))
    await another()
  })

  for (const direction of ['up', 'down'] as const) {
    it(`holds one direction, and forwards what it held: ${direction}`, async () => {
      const { state, send, came } = await open()
      proxy.hold(direction)
      send('held')
      await until('the target has it, or not', () => opened.length === 2)
      expect(state.received).to.equal('')
      proxy.release()
      await came('held')
    })
  }

  it('forgets connections, and holds new ones until the network is whole', async () => {
    const { state, send } = await open()
    await another()
    proxy.partition()
    send('lost')
    const next = await open()
    next.send('kept')
    proxy.release()
    await next.came('kept')
    send('lost, too')
    await another()
    expect(state).to.deep.equal({ received: '', end: '' })
  })

  it('refuses connections, and takes them again on the same port', async () => {
    const { port } = proxy
    await proxy.shut()
    const refused = connect(port, '127.0.0.1')
    const [error] = (await once(refused, 'error')) as [NodeJS.ErrnoException]
    expect(error.code).to.equal('ECONNREFUSED')
    await proxy.open()
    expect(proxy.port).to.equal(port)
    await another()
  })

  it('changes answers', async () => {
    const target = echo.address() as AddressInfo
    const changing = await startFaultyProxy(target, {
      rewrite: (chunk) => Buffer.from(chunk.toString().toUpperCase()),
    })
    try {
      const socket = connect(changing.port, '127.0.0.1')
      opened.push(socket)
      socket.write('hello')
      const [chunk] = (await once(socket, 'data')) as [Buffer]
      expect(chunk.toString()).to.equal('HELLO')
    } finally {
      await changing.close()
    }
  })
})
