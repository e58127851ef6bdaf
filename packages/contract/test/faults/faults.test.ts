import { expect } from 'chai'
import { rejection } from '../../src/support/expectations.ts'
import { createFaults, type Faults } from '../../src/faults/faults.ts'

const error = new Error('on purpose')
const read = (faults: Faults) => faults.call('read', async () => 'value')
const add = (faults: Faults) => faults.call('add', async () => 'value')

describe('createFaults', () => {
  it('lets everything pass without a plan, and counts', async () => {
    const faults = createFaults()
    expect(await read(faults)).to.equal('value')
    expect(faults.steps()).to.deep.equal([
      { method: 'read', moment: 'call' },
      { method: 'read', moment: 'answer' },
    ])
  })

  it('strikes the nth step, and none behind it', async () => {
    const faults = createFaults()
    faults.plan({ nth: 3, error })
    await read(faults)
    expect(await rejection(read(faults))).to.equal(error)
    expect(await read(faults)).to.equal('value')
    expect(faults.struck()).to.deep.equal([{ method: 'read', moment: 'call' }])
  })

  it('counts only the steps that were asked for', async () => {
    const faults = createFaults()
    faults.plan({ nth: 2, only: { method: 'add', moment: 'answer' }, error })
    await read(faults)
    await add(faults)
    await read(faults)
    expect(await rejection(add(faults))).to.equal(error)
  })

  it('strikes every step from the nth on in an outage, until there is another plan', async () => {
    const faults = createFaults()
    faults.plan({ nth: 2, lasting: true, error })
    for (let times = 0; times < 3; times++) {
      expect(await rejection(read(faults))).to.equal(error)
    }
    expect(faults.struck()).to.have.length(3)
    faults.plan()
    expect(await read(faults)).to.equal('value')
    expect(faults.struck()).to.deep.equal([])
  })

  it('fails with an error that names the step, unless it is given one', async () => {
    const faults = createFaults()
    faults.plan({ nth: 2 })
    expect(String(await rejection(read(faults)))).to.equal(
      'Error: A fault on purpose: read, answer',
    )
  })

  it('holds a step until it is released, and then goes on', async () => {
    const faults = createFaults()
    const gate = Promise.withResolvers<undefined>()
    faults.plan({ nth: 1, hold: gate.promise })
    const reading = read(faults)
    expect(faults.underWay()).to.equal(1)
    gate.resolve(undefined)
    expect(await reading).to.equal('value')
    expect(faults.underWay()).to.equal(0)
  })

  it('fails a step that was held, where an error is given', async () => {
    const faults = createFaults()
    faults.plan({ nth: 1, hold: Promise.resolve(), error })
    expect(await rejection(read(faults))).to.equal(error)
  })

  it('ends what is held when the signal aborts', async () => {
    const faults = createFaults()
    faults.plan({ nth: 1, lasting: true, hold: new Promise(() => {}) })
    const abort = new AbortController()
    const reading = rejection(faults.call('read', async () => 'value', abort.signal))
    abort.abort(error)
    expect(await reading).to.equal(error)
    expect(await rejection(faults.call('read', async () => 'value', abort.signal))).to.equal(error)
    expect(faults.underWay()).to.equal(0)
  })
})
