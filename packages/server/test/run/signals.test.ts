import { useHoldfast } from '@holdfast/testing'
import { expect } from 'chai'
import { catchSignals } from '../../src/run/run-server.ts'

describe('catchSignals', () => {
  const names = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const
  const before = new Map(names.map((name) => [name, process.listeners(name)]))
  // Signals that were really sent would end the test run if a test failed to catch them.
  const send = (name: (typeof names)[number]) => void process.emit(name, name)
  afterEach(() => {
    for (const name of names) {
      process.removeAllListeners(name)
      for (const listener of before.get(name) ?? []) process.on(name, listener)
    }
  })
  beforeEach(() => {
    // Mocha's own would end the run.
    for (const name of names) process.removeAllListeners(name)
  })

  it('keeps a signal that came before it was waited for', async () => {
    const signals = catchSignals()
    send('SIGINT')
    expect(await signals.end).to.equal('SIGINT')
    expect(signals.hurry.aborted).to.equal(false)
  })

  it('hurries at the second signal, whichever it is', () => {
    const signals = catchSignals()
    send('SIGTERM')
    expect(signals.hurry.aborted).to.equal(false)
    send('SIGINT')
    expect(signals.hurry.aborted).to.equal(true)
  })

  it('reloads at every SIGHUP, and once for those that came early', () => {
    const signals = catchSignals()
    let reloads = 0
    send('SIGHUP')
    send('SIGHUP')
    signals.onReload(() => reloads++)
    expect(reloads).to.equal(1)
    send('SIGHUP')
    send('SIGHUP')
    expect(reloads).to.equal(3)
  })
})

describe('holdfast serve that cannot stop', function () {
  this.timeout(60_000)
  const holdfast = useHoldfast()

  it('is killed ten seconds after the second signal', async () => {
    // Stands for a disk that hangs: the server never hears that its port is closed.
    const hang = `import { Server } from 'node:net'; Server.prototype.close = () => {}`
    await holdfast.site.write('hang.mjs', hang)
    const server = await holdfast.start([], {
      env: { NODE_OPTIONS: `--import file://${holdfast.site.path}/hang.mjs` },
    })
    server.signal('SIGTERM')
    await server.logged('finishing the requests under way')
    const since = performance.now()
    server.signal('SIGINT')
    expect(await server.ended).to.equal('SIGKILL')
    expect(performance.now() - since).to.be.greaterThan(9_000)
    expect(server.output()).to.include('holdfast: Killed while stopping.')
  })
})
