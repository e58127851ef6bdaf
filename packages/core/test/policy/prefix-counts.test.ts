import { expect } from 'chai'
import { createPrefixCounts } from '../../src/policy/prefix-counts.ts'
import { rejection } from '../rejection.ts'
import { turn } from '../turn.ts'

/** Counts of a store whose names, speed and clock change as a test likes. */
function open() {
  const names = new Set<string>()
  const state = { lists: 0, ms: 0, listingMs: 0, gate: Promise.resolve<undefined>(undefined) }
  const store = {
    async *list(_customer: string, { prefix = '', limit = Infinity } = {}) {
      state.lists++
      state.ms += state.listingMs
      const found = [...names].filter((name) => name.startsWith(prefix)).slice(0, limit)
      await state.gate
      yield found
    },
  }
  const counts = createPrefixCounts(store, () => state.ms)
  const publish = (name: string) => {
    names.add(name)
    counts.add('alice', name)
  }
  const hasRoom = (maxFiles: number, prefix = 'in-') =>
    counts.hasRoom('alice', { prefix, maxFiles })
  return { names, state, counts, publish, hasRoom }
}

describe('createPrefixCounts', () => {
  it('asks the store once, and knows what is published from then on', async () => {
    const { state, publish, hasRoom } = open()
    for (const name of ['in-1', 'in-2', 'other']) {
      expect(await hasRoom(2)).to.equal(name !== 'other')
      publish(name)
    }
    // Once at first, and once before the refusal.
    expect(state.lists).to.equal(2)
  })

  it('finds room at once where files were deleted', async () => {
    const { names, publish, hasRoom } = open()
    expect(await hasRoom(1)).to.equal(true)
    publish('in-1')
    expect(await hasRoom(1)).to.equal(false)
    names.delete('in-1')
    expect(await hasRoom(1)).to.equal(true)
  })

  it('counts a file that is published again once', async () => {
    const { state, publish, hasRoom } = open()
    expect(await hasRoom(2)).to.equal(true)
    for (let n = 0; n < 3; n++) publish('in-1')
    expect([await hasRoom(2), state.lists]).to.deep.equal([true, 1])
  })

  it('finds after a second what others have stored, or after twenty times as long as counting takes', async () => {
    for (const [listingMs, ageMs] of [
      [0, 1_000],
      [100, 2_000],
      [10_000, 60_000],
    ] as const) {
      const { names, state, hasRoom } = open()
      state.listingMs = listingMs
      expect(await hasRoom(1)).to.equal(true)
      names.add('in-1')
      state.ms = ageMs - 1
      expect(await hasRoom(1)).to.equal(true)
      state.ms = ageMs
      expect(await hasRoom(1), `${ageMs}`).to.equal(false)
    }
  })

  it('asks again after `forget`, but not about other customers', async () => {
    const { names, counts, hasRoom } = open()
    expect(await hasRoom(1)).to.equal(true)
    names.add('in-1')
    counts.forget('bob')
    expect(await hasRoom(1)).to.equal(true)
    counts.forget('alice')
    expect(await hasRoom(1)).to.equal(false)
  })

  it('knows what is published while the store lists, and lists once for all who ask meanwhile', async () => {
    const { state, publish, hasRoom } = open()
    const gate = Promise.withResolvers<undefined>()
    state.gate = gate.promise
    const asked = [hasRoom(2), hasRoom(2), hasRoom(2)]
    await turn()
    publish('in-1')
    publish('in-2')
    gate.resolve(undefined)
    expect(await Promise.all(asked)).to.deep.equal([false, false, false])
    expect(state.lists).to.be.at.most(4)
  })

  it('counts a file once that the store lists and that is published meanwhile', async () => {
    const { state, publish, names, hasRoom } = open()
    names.add('in-1')
    const gate = Promise.withResolvers<undefined>()
    state.gate = gate.promise
    const asking = hasRoom(2)
    await turn()
    publish('in-1')
    gate.resolve(undefined)
    expect(await asking).to.equal(true)
  })

  it('distinguishes prefixes and limits, and keeps few of them', async () => {
    const { state, publish, hasRoom } = open()
    expect([await hasRoom(1), await hasRoom(2), await hasRoom(1, 'i')]).to.deep.equal([
      true,
      true,
      true,
    ])
    publish('in-1')
    expect([await hasRoom(1), await hasRoom(2), await hasRoom(1, 'i')]).to.deep.equal([
      false,
      true,
      false,
    ])
    for (let n = 0; n < 100; n++) await hasRoom(1, `other-${n}`)
    const { lists } = state
    expect(await hasRoom(2)).to.equal(true)
    expect(state.lists).to.equal(lists + 1)
  })

  it('asks again where the store could not list', async () => {
    const { state, hasRoom } = open()
    const down = new Error('down')
    state.gate = Promise.reject(down)
    state.gate.catch(() => {})
    expect(await rejection(hasRoom(1))).to.equal(down)
    state.gate = Promise.resolve(undefined)
    expect(await hasRoom(1)).to.equal(true)
  })
})
