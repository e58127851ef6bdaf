import { expect } from 'chai'
import { createUploadCounter } from '../../src/policy/quota-keeper.ts'
import { refusal, rejection } from '../rejection.ts'
import { turn } from '../turn.ts'

const second = 1_000
const minute = 60 * second

/** A counter of the uploads in `stored`, whose lists go on when `gate` does. */
function openCounter(...ids: readonly string[]) {
  const opened = {
    stored: new Set(ids),
    time: 0,
    lists: 0,
    gate: Promise.withResolvers<undefined>(),
  }
  opened.gate.resolve(undefined)
  const list = async function* () {
    opened.lists++
    const found = Array.from(opened.stored, (id) => ({ id }))
    await opened.gate.promise
    yield found
  }
  const counter = createUploadCounter({ list }, () => opened.time)
  const begin = (id: string, most: number) =>
    counter.begin('alice', most, async () => {
      opened.stored.add(id)
      return { id }
    })
  const close = () => (opened.gate = Promise.withResolvers<undefined>())
  return Object.assign(opened, { counter, begin, close })
}

/** Whether `promise` settles without I/O and time. */
async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  let settled = false
  const note = () => void (settled = true)
  promise.then(note, note)
  await turn()
  return settled
}

describe('createUploadCounter', () => {
  it('waits for the first list, and asks for no other one while that holds', async () => {
    const opened = openCounter('a')
    const gate = opened.close()
    const first = opened.begin('b', 3)
    expect(await isSettled(first)).to.equal(false)
    gate.resolve(undefined)
    await first
    await opened.begin('c', 3)
    opened.time = minute - 1
    const message = 'Quota exceeded: there are 3 of 3 unfinished uploads'
    expect(await rejection(opened.begin('d', 3))).to.include({ code: 'quota-exceeded', message })
    void opened.counter.end('alice', 'c')
    await opened.begin('d', 3)
    expect(opened.lists).to.equal(2)
  })

  it('asks for no list where there is no limit', async () => {
    const opened = openCounter()
    await opened.begin('a', Infinity)
    expect(opened.lists).to.equal(0)
  })

  it('counts uploads that are being begun, until that fails', async () => {
    const { counter, begin } = openCounter()
    const beginning = Promise.withResolvers<{ id: string }>()
    const stalled = rejection(counter.begin('alice', 1, () => beginning.promise))
    expect(await refusal(begin('b', 1))).to.equal('quota-exceeded')
    const error = new Error('The store fails')
    beginning.reject(error)
    expect(await stalled).to.equal(error)
    await begin('b', 1)
  })

  it('lists anew in the background, and finds what others have begun', async () => {
    const opened = openCounter()
    await opened.begin('a', 3)
    opened.stored.add('b')
    opened.time = minute
    const gate = opened.close()
    await opened.begin('c', 3)
    expect(opened.lists).to.equal(2)
    gate.resolve(undefined)
    await turn()
    expect(await refusal(opened.begin('d', 3))).to.equal('quota-exceeded')
  })

  it('lists more rarely the longer it takes', async () => {
    const opened = openCounter()
    const gate = opened.close()
    const first = opened.begin('a', 9)
    opened.time = 10 * second
    gate.resolve(undefined)
    await first
    opened.time = 200 * second - 1
    await opened.begin('b', 9)
    expect(opened.lists).to.equal(1)
    opened.time++
    await opened.begin('c', 9)
    expect(opened.lists).to.equal(2)
  })

  it('waits for a new list before it refuses, all that begin at once for one', async () => {
    const opened = openCounter('a', 'b')
    expect(await refusal(opened.begin('c', 2))).to.equal('quota-exceeded')
    opened.time = second - 1
    expect(await refusal(opened.begin('c', 2))).to.equal('quota-exceeded')
    expect(opened.lists).to.equal(1)
    opened.stored.clear()
    opened.time = second
    const gate = opened.close()
    const all = [opened.begin('c', 2), opened.begin('d', 2), refusal(opened.begin('e', 2))] as const
    expect(await isSettled(Promise.race(all))).to.equal(false)
    gate.resolve(undefined)
    expect((await Promise.all(all))[2]).to.equal('quota-exceeded')
    expect(opened.lists).to.equal(2)
  })

  it('does not count an upload that has ended while the store listed it', async () => {
    const opened = openCounter()
    await opened.begin('a', 2)
    opened.time = minute
    const gate = opened.close()
    await opened.begin('b', 2)
    void opened.counter.end('alice', 'a')
    void opened.counter.end('alice', 'b')
    gate.resolve(undefined)
    await turn()
    await opened.begin('c', 2)
    await opened.begin('d', 2)
    expect(opened.lists).to.equal(2)
  })

  it('does not count an upload that has ended before its beginning was known', async () => {
    const { counter, begin } = openCounter()
    await counter.begin('alice', 1, async () => {
      void counter.end('alice', 'a')
      return { id: 'a' }
    })
    await begin('b', 1)
  })

  it('lists anew after it has forgotten', async () => {
    const opened = openCounter()
    await opened.begin('a', 1)
    opened.stored.clear()
    opened.counter.forget()
    await opened.begin('b', 1)
    expect(opened.lists).to.equal(2)
  })

  it('does not forget what is being begun', async () => {
    const { counter, begin } = openCounter()
    const beginning = Promise.withResolvers<{ id: string }>()
    const stalled = counter.begin('alice', 1, () => beginning.promise)
    await turn()
    counter.forget()
    expect(await refusal(begin('b', 1))).to.equal('quota-exceeded')
    beginning.resolve({ id: 'a' })
    await stalled
    expect(await refusal(begin('b', 1))).to.equal('quota-exceeded')
  })

  it('rejects as the first list does, and tries again', async () => {
    const opened = openCounter('a')
    const gate = opened.close()
    const error = new Error('The store fails')
    gate.reject(error)
    expect(await rejection(opened.begin('b', 2))).to.equal(error)
    opened.close().resolve(undefined)
    await opened.begin('b', 2)
    expect(await refusal(opened.begin('c', 2))).to.equal('quota-exceeded')
  })

  it('keeps what it knows where a later list fails, and what is being begun, and tries again', async () => {
    const opened = openCounter('a')
    const beginning = Promise.withResolvers<{ id: string }>()
    const stalled = opened.counter.begin('alice', 3, () => beginning.promise)
    await turn()
    opened.time = minute
    opened.close().reject(new Error('The store fails'))
    await opened.begin('b', 3)
    await turn()
    opened.close().resolve(undefined)
    expect(await refusal(opened.begin('c', 3))).to.equal('quota-exceeded')
    expect(opened.lists).to.equal(3)
    beginning.resolve({ id: 'd' })
    await stalled
  })
})
