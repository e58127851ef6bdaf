import { isFileServiceError } from '@holdfast/core'
import { rejection } from '@holdfast/testing'
import { expect } from 'chai'
import {
  createHashingQueue,
  type HashingQueueOptions,
  type HashingRequest,
} from '../src/hashing-queue.ts'

/** A queue whose verifications last until they are told how they end, and note in what order they began. */
function openQueue(options: Partial<HashingQueueOptions> = {}) {
  const queue = createHashingQueue({ concurrency: 1, limit: 100, ...options })
  const begun: string[] = []
  const running: ((verified: boolean) => void)[] = []
  const run = (key: string, address: string, more: Partial<HashingRequest> = {}) =>
    queue.run({ key, address, ...more }, () => {
      begun.push(key)
      return new Promise((resolve) => running.push(resolve))
    })
  const end = async (verified = false) => {
    running.shift()?.(verified)
    await new Promise((resolve) => setImmediate(resolve))
  }
  const endAll = async () => {
    while (running.length > 0) await end()
  }
  return { run, begun, end, endAll }
}

const isOverloaded = async (promise: Promise<unknown>) =>
  isFileServiceError(await rejection(promise), 'overloaded')

describe('createHashingQueue', () => {
  it('lets addresses take turns, and keeps the order of each', async () => {
    const { run, begun, endAll } = openQueue()
    const all = [run('a1', 'a'), run('a2', 'a'), run('a3', 'a'), run('a4', 'a')]
    all.push(run('b1', 'b'), run('c1', 'c'), run('b2', 'b'))
    await endAll()
    await Promise.all(all)
    expect(begun.join(' ')).to.equal('a1 a2 b1 c1 a3 b2 a4')
  })

  it('keeps a newcomer waiting for one turn of each address that waits, however many theirs are', async () => {
    const { run, begun, end, endAll } = openQueue()
    const floods = ['a', 'b', 'c'].flatMap((address) =>
      Array.from({ length: 30 }, (_, n) => run(`${address}${n}`, address)),
    )
    await end()
    const customer = run('customer', 'x')
    await endAll()
    await Promise.all([...floods, customer])
    expect(begun.indexOf('customer')).to.be.within(1, 5)
  })

  it('refuses, when full, the latest of the address of which most wait', async () => {
    const { run, begun, endAll } = openQueue({ limit: 3 })
    const first = run('a1', 'a')
    const flood = [run('a2', 'a'), run('a3', 'a')]
    const surplus = isOverloaded(run('a4', 'a'))
    const customer = run('x1', 'x')
    expect(await surplus).to.equal(true)
    await endAll()
    expect(await Promise.all([first, ...flood, customer])).to.deep.equal(Array(4).fill(false))
    expect(begun.join(' ')).to.equal('a1 a2 x1 a3')
  })

  it('refuses the newcomer of whose address no less wait than of any other', async () => {
    const { run, begun, endAll } = openQueue({ limit: 2 })
    const all = [run('a1', 'a'), run('a2', 'a'), run('b1', 'b')]
    expect(await isOverloaded(run('c1', 'c'))).to.equal(true)
    expect(await isOverloaded(run('a3', 'a'))).to.equal(true)
    await endAll()
    await Promise.all(all)
    expect(begun.join(' ')).to.equal('a1 a2 b1')
  })

  it('gives the place free of one that is aborted while it waits', async () => {
    const { run, begun, endAll } = openQueue({ limit: 1 })
    const leaving = new AbortController()
    const gone = new Error('gone')
    const first = run('a1', 'a')
    const waiting = rejection(run('b1', 'b', { signal: leaving.signal }))
    leaving.abort(gone)
    expect(await waiting).to.equal(gone)
    const next = run('c1', 'c')
    await endAll()
    expect(await Promise.all([first, next])).to.deep.equal([false, false])
    expect(begun.join(' ')).to.equal('a1 c1')
  })

  it('begins nothing that is aborted already, and ends what has begun', async () => {
    const { run, begun, end } = openQueue()
    const leaving = new AbortController()
    const first = run('a1', 'a', { signal: leaving.signal })
    leaving.abort(new Error('gone'))
    const late = await rejection(run('a2', 'a', { signal: leaving.signal }))
    expect(late).to.be.instanceOf(Error).with.property('message', 'gone')
    await end(true)
    expect(await first).to.equal(true)
    expect(begun.join(' ')).to.equal('a1')
  })

  it('shares what is right with all of that key, from whatever address, and starts the next', async () => {
    const { run, begun, end } = openQueue()
    const right = ['a', 'b', 'c'].map((address) => run('right', address))
    const other = run('other', 'a')
    await end(true)
    expect(await Promise.all(right)).to.deep.equal([true, true, true])
    await end(false)
    expect(await other).to.equal(false)
    expect(begun.join(' ')).to.equal('right other')
  })
})
