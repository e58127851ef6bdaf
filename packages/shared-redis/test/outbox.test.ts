import { expect } from 'chai'
import { createOutbox } from '../src/engine/outbox.ts'
import { until } from './shared-engines.ts'

/** An engine that is away and back when the test says so. */
function openSwitch() {
  const listeners: ((isAway: boolean, reason: string) => void)[] = []
  let isAway = false
  return {
    engine: {
      isAway: () => isAway,
      onChange: (listener: (isAway: boolean, reason: string) => void) =>
        void listeners.push(listener),
    },
    set: (next: boolean) => {
      isAway = next
      for (const listener of listeners) listener(next, next ? 'the test says so' : '')
    },
  }
}

/** Work that fails so many times. */
function failing(times: number) {
  let calls = 0
  const work = async () => {
    calls++
    if (calls <= times) throw new Error('not now')
  }
  return { work, calls: () => calls }
}

describe('createOutbox', () => {
  it('does work at once, and once', async () => {
    const { engine, set } = openSwitch()
    const { work, calls } = failing(0)
    await createOutbox(engine).add(work)
    set(true)
    set(false)
    expect(calls()).to.equal(1)
  })

  it('repeats what failed when the engine is back', async () => {
    const { engine, set } = openSwitch()
    const { work, calls } = failing(2)
    const outbox = createOutbox(engine)
    set(true)
    await outbox.add(work)
    set(false)
    expect(calls()).to.equal(2)
    await until(() => calls() === 3)
  })

  it('repeats what failed while the engine is there', async () => {
    const { engine } = openSwitch()
    const { work, calls } = failing(2)
    await createOutbox(engine).add(work)
    await until(() => calls() === 3)
  })

  it('keeps only so much, the latest', async () => {
    const { engine, set } = openSwitch()
    const outbox = createOutbox(engine, { most: 2 })
    set(true)
    const works = [1, 2, 3].map(() => failing(1))
    for (const { work } of works) await outbox.add(work)
    set(false)
    expect(works.map(({ calls }) => calls())).to.deep.equal([1, 2, 2])
  })

  it('discards what is too old', async () => {
    const { engine, set } = openSwitch()
    const outbox = createOutbox(engine, { maxAgeMs: -1 })
    const { work, calls } = failing(1)
    set(true)
    await outbox.add(work)
    set(false)
    expect(calls()).to.equal(1)
  })
})
