import { expect } from 'chai'
import { stopOnSignal } from '../../src/terminal/stop-on-signal.ts'

describe('stopOnSignal', () => {
  const names = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
  const before = new Map(names.map((name) => [name, process.listeners(name)]))
  // Signals that were really sent would end the test run if a test failed to catch them.
  const send = (name: (typeof names)[number]) => void process.emit(name, name)
  beforeEach(() => {
    // Mocha's own would end the run.
    for (const name of names) process.removeAllListeners(name)
  })
  afterEach(() => {
    for (const name of names) {
      process.removeAllListeners(name)
      for (const listener of before.get(name) ?? []) process.on(name, listener)
    }
  })

  for (const name of names) {
    it(`aborts at ${name}, and names it`, () => {
      const interruption = stopOnSignal()
      expect(interruption.signal.aborted).to.be.false
      expect(interruption.name()).to.be.undefined
      send(name)
      expect(interruption.signal.aborted).to.be.true
      expect(interruption.name()).to.equal(name)
    })
  }

  it('leaves the second signal to the system, which kills the process', () => {
    stopOnSignal()
    send('SIGINT')
    for (const name of names) expect(process.listenerCount(name)).to.equal(0)
  })
})
